#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""stereo-bench on small synthetic scenes: the layouts that it finds, what it refuses, its JSON and the table of table.py.

test_table.py PATH_OF_STEREO_BENCH
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table  # noqa: E402

WIDTH, HEIGHT, SHIFT = 96, 40, 5


def write_png(path, bits, rows):
    """A grey PNG; of colours where samples are triples."""
    colours = isinstance(rows[0][0], tuple)
    size = len(rows[0]), len(rows)
    rows = [[sample for pixel in row for sample in pixel] for row in rows] if colours else rows
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packed = b"".join(b"\0" + struct.pack(f">{len(row)}{'H' if bits == 16 else 'B'}", *row) for row in rows)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, bits, 2 if colours else 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(packed)) + chunk(b"IEND", b""))


def write_scene(left, right, truth, wrong):
    """Noise, moved by SHIFT. The truth of @wrong columns at the right says something else."""
    noise = [[random.randrange(256) for _ in range(WIDTH + SHIFT)] for _ in range(HEIGHT)]
    write_png(left, 8, [row[:WIDTH] for row in noise])
    write_png(right, 8, [row[SHIFT:] for row in noise])
    write_png(truth, 16, [[256 * (SHIFT + (7 if x >= WIDTH - wrong else 0)) for x in range(WIDTH)] for _ in range(HEIGHT)])


class Table(unittest.TestCase):
    bench = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        random.seed(5)
        for frame, wrong in (("000000_10", 0), ("000001_10", 48)):
            self.write_kitti(frame, wrong)
        write_scene(*(os.path.join(self.folder, "room", name) for name in ("left.png", "right.png", "gt.png")), 24)
        with open(os.path.join(self.folder, "room", "calib.txt"), "w", encoding="utf-8") as file:
            file.write("ndisp=24\n")

    def write_kitti(self, frame, wrong, folder="kitti"):
        write_scene(*(os.path.join(self.folder, folder, name, frame + ".png")
                      for name in ("image_2", "image_3", "disp_occ_0")), wrong)

    def run_bench(self, *words):
        command = [self.bench, "--backend", "cpu", "--score", "--fill", "background", "--scenes", self.folder, *words]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)

    def rows(self, *words):
        done = self.run_bench("--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_json(self):
        rows = self.rows("--bad", "7.5,3")
        self.assertEqual([(row["scene"], row["group"], row["disparities"], row["disparities_from"]) for row in rows],
                         [("kitti/000000_10", "kitti", 16, "truth"), ("kitti/000001_10", "kitti", 16, "truth"),
                          ("room", os.path.basename(self.folder), 24, "calib.txt")])
        for row, wrong in zip(rows, (0, 50, 25)):
            score = row["all"]
            self.assertEqual([name for name in score if name.startswith("bad")],
                             ["bad0.5", "bad1", "bad2", "bad3", "bad4", "bad7.5"])
            self.assertEqual((score["pixels"], score["density"]), (WIDTH * HEIGHT, 100))
            self.assertEqual(score["kept"]["pixels"], WIDTH * HEIGHT)
            self.assertAlmostEqual(score["bad4"], wrong, delta=4)   # noise at borders may be wrong too
            self.assertAlmostEqual(score["d1"], wrong, delta=4)
            self.assertAlmostEqual(score["average_error"], 0.07 * wrong, delta=0.3)
            self.assertLess(score["bad7.5"], 4)
            self.assertNotIn("nocc", row)
            self.assertNotIn("median_ms", row)

    def test_the_option_wins_over_the_scene(self):
        self.assertEqual({(row["disparities"], row["disparities_from"]) for row in self.rows("--num-disparities", "20")},
                         {(20, "option")})

    def test_missing_is_wrong_and_not_kept(self):
        full, holes = self.rows("--scene", "room")[0]["all"], self.rows("--scene", "room", "--fill", "none")[0]["all"]
        self.assertLess(holes["density"], 100)
        self.assertAlmostEqual(holes["bad1"], holes["kept"]["bad1"] * holes["density"] / 100 + 100 - holes["density"], delta=0.01)
        self.assertGreaterEqual(holes["bad1"], full["bad1"])

    def test_the_means(self):
        rows = self.rows()
        found = [row["all"]["bad1"] for row in rows]
        lines = {text.split("  ")[0]: text.split() for text in table.table(rows, "all").splitlines()}
        names = list(table.figures(rows[0]["all"]))
        for name, mean in (("mean of 2, kitti", sum(found[:2]) / 2), ("mean of 3, all scenes", sum(found) / 3)):
            self.assertAlmostEqual(float(lines[name][names.index("bad1") - len(names)]), mean, delta=0.006)
        self.assertIn("kitti/000000_10, 16*", lines)
        self.assertIn("\n* the largest true disparity", table.table(rows))
        self.assertIn("times the best, mean of 2", table.table(rows))
        self.assertIn("kitti/000000_10: 96x40, 16 disparities (truth)", self.run_bench().stdout)

    def test_means_leave_out_what_is_not_known(self):
        nothing = {"bad1": 100, "d1": 100, "density": 0}
        good = {"bad1": 0, "d1": 0, "density": 100, "average_error": 3, "kept": {"pixels": 2, "bad1": 0, "d1": 0}}
        mean = table.mean([table.figures(nothing), table.figures(good)])
        self.assertEqual((mean["d1"], mean["dens"], mean["err"], mean["kept bad1"]), (50, 50, 3, 0))

    def test_names_and_wildcards(self):
        self.assertEqual([row["scene"] for row in self.rows("--scene", "000001_10,roo*")], ["kitti/000001_10", "room"])
        done = self.run_bench("--scene", "room,attic")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--scene attic: no such scene", done.stderr)

    def test_folders_of_the_same_name(self):
        for folder, frame in (("a", "000001_10"), ("b", "000000_10"), ("b", "000001_10")):
            self.write_kitti(frame, 0, folder + "/training")
        command = [self.bench, "--backend", "cpu", "--score", "--json", "--write", os.path.join(self.folder, "out"),
                   "--scenes", "b/training/", "--scenes", os.path.join(self.folder, "a/training")]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=self.folder)
        self.assertEqual([(row["group"], row["scene"]) for row in json.loads(done.stdout)],
                         [("b/training", "000000_10"), ("b/training", "000001_10"), ("a/training", "000001_10")])
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "out"))), 6)

    def test_a_bad_scene_does_not_stop_the_others(self):
        with open(os.path.join(self.folder, "kitti/disp_occ_0/000000_10.png"), "wb") as file:
            file.write(b"garbage")
        done = self.run_bench("--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("000000_10.png", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)), 2)

    def write_sequence(self, frames, step):
        """A square of noise moves over noise that stands still; the truth of both is known."""
        back = [[random.randrange(256) for _ in range(WIDTH + SHIFT)] for _ in range(HEIGHT)]
        square = [[random.randrange(256) for _ in range(24)] for _ in range(24)]
        for frame in range(frames):
            left, right = [row[:WIDTH] for row in back], [row[SHIFT:] for row in back]
            truth, x = [[256 * SHIFT] * WIDTH for _ in range(HEIGHT)], 30 + step * frame
            for y in range(24):
                left[8 + y][x:x + 24] = right[8 + y][x - 12:x + 12] = square[y]
                truth[8 + y][x:x + 24] = [256 * 12] * 24
            for name, bits, rows in (("left", 8, left), ("right", 8, right), ("gt", 16, truth)):
                write_png(os.path.join(self.folder, "video", name, f"{frame:03d}.png"), bits, rows)

    def sequence(self, *words):
        command = [self.bench, "--backend", "cpu", "--num-disparities", "20", "--method", "bm", "--fill", "background",
                   "--sequence", os.path.join(self.folder, "video"), *words]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)

    def test_sequence(self):
        self.write_sequence(12, 3)
        done = self.sequence("--json", "--write", os.path.join(self.folder, "maps"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "maps"))), 12)
        run = json.loads(done.stdout)[0]
        frames = run["frames"]
        self.assertEqual([frame["frame"] for frame in frames], list(range(1, 13)))
        self.assertNotIn("flicker", frames[0])
        for name in ("bad1", "flicker", "trails"):
            mean = sum(frame[name] for frame in frames[9:]) / 3
            self.assertAlmostEqual(run["mean"][name], mean, delta=0.002)
            printed = re.search(name + r" +([\d.]+)", self.sequence().stdout.splitlines()[-1])
            self.assertAlmostEqual(float(printed.group(1)), mean, delta=0.002)
        # the square's two edges of 3 px change; all that is right changes with them
        self.assertGreater(run["mean"]["flicker"], 100 * 2 * 3 * 24 / (WIDTH * HEIGHT) / 2)
        self.assertLess(run["mean"]["bad1"], 10)
        self.assertLess(run["mean"]["trails"], 50)

    def test_sequence_that_stands_still(self):
        self.write_sequence(3, 0)
        run = json.loads(self.sequence("--json").stdout)[0]
        self.assertEqual(run["mean"]["flicker"], 0)
        self.assertNotIn("trails", run["mean"])
        noisy = json.loads(self.sequence("--json", "--noise", "20", "--temporal", "0").stdout)[0]
        self.assertGreater(noisy["mean"]["flicker"], 0)
        self.assertEqual((noisy["noise"], noisy["temporal"]), (20, 0))

    def test_bad_sequences(self):
        self.write_sequence(3, 1)
        os.remove(os.path.join(self.folder, "video/right/001.png"))
        done = self.sequence()
        self.assertEqual(done.returncode, 1)
        self.assertIn("right/001.png", done.stderr)
        write_png(os.path.join(self.folder, "video/left/000.png"), 8, [[7] * 40] * 30)
        write_png(os.path.join(self.folder, "video/right/000.png"), 8, [[7] * 40] * 30)
        os.remove(os.path.join(self.folder, "video/gt/000.png"))
        os.remove(os.path.join(self.folder, "video/left/001.png"))
        done = self.sequence()
        self.assertEqual(done.returncode, 1)
        self.assertIn("002.png has another size", done.stderr)
        done = subprocess.run([self.bench, "--sequence", self.folder], stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no PNG in it", done.stderr)

    def test_what_is_refused(self):
        for words, text in ((("--bad", "2,x"), "--bad 2,x: write it as 3,5"), (("--bad", "0"), "--bad 0"),
                            (("--bad", ",".join(str(k) for k in range(5, 20))), "at most 12"),
                            (("--truth-scale", "0"), "--truth-scale 0: this takes"), (("--runs", "2.5"), "--runs 2.5: this takes"),
                            (("--noise", "-1"), "--noise -1: this takes")):
            done = self.run_bench(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)


class Layouts(unittest.TestCase):
    """Folders of small files. Every truth is SHIFT at all pixels but the first, in the units of its format."""
    bench = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = os.path.join(folder.name, "top")
        random.seed(7)

    def path(self, name):
        os.makedirs(os.path.dirname(os.path.join(self.top, name)), exist_ok=True)
        return os.path.join(self.top, name)

    def views(self, left, right, width=32, height=12, colours=False):
        noise = [[random.randrange(256) for _ in range(width + SHIFT)] for _ in range(height)]
        for name, rows in ((left, [row[:width] for row in noise]), (right, [row[SHIFT:] for row in noise])):
            write_png(self.path(name), 8, [[(v, v, v) for v in row] for row in rows] if colours else rows)

    def samples(self, name, bits, first, others, width=32, height=12):
        write_png(self.path(name), bits, [[first if not x and not y else others for x in range(width)] for y in range(height)])

    def pfm(self, name, order="<", width=32, height=12):
        values = [float(SHIFT)] * (width * height)
        values[width * (height - 1)] = float("inf")  # the file begins at the bottom
        self.write(name, f"Pf\n{width} {height}\n{'-1.0' if order == '<' else '1.0'}\n".encode() + struct.pack(f"{order}{len(values)}f", *values))

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def run_bench(self, *words):
        command = [self.bench, "--backend", "cpu", "--score", "--json", "--method", "bm", "--window", "5", "--fill", "background", "--scenes",
                   self.top, *words]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True, timeout=60)

    def scene(self, *words):
        done = self.run_bench(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(len(found), 1, done.stdout)
        return found[0]

    def expect(self, name, group, searched, seen, pixels=32 * 12 - 1, words=()):
        """One scene. @seen: pixels of it that both views see; None: not known."""
        scene = self.scene(*words)
        self.assertEqual((scene["scene"], scene["group"], (scene["disparities"], scene["disparities_from"])), (name, group, searched))
        self.assertEqual((scene["all"]["pixels"], scene.get("nocc", {}).get("pixels")), (pixels, seen))
        self.assertLess(scene["all"]["average_error"], 1)  # the truth has the right scale

    def refuse(self, text, *words):
        done = self.run_bench(*words)
        self.assertEqual((done.returncode, json.loads(done.stdout)), (1, []))
        self.assertIn(text, done.stderr)

    def test_a_scene_a_folder(self):
        self.views("room/left.png", "room/right.png", colours=True)
        self.pfm("room/gt.pfm")
        self.samples("room/mask_nocc.png", 8, 255, 128)
        self.samples("room/gt.png", 16, 1, 1)  # gt.pfm comes before it
        self.expect("room", "top", (16, "truth"), None)
        self.samples("room/mask_nocc.png", 8, 0, 255)
        self.pfm("room/gt.pfm", ">")
        self.expect("room", "top", (16, "truth"), 32 * 12 - 1)

    def test_a_name_with_a_number(self):
        self.views("kitti-000012/left.png", "kitti-000012/right.png")
        self.samples("kitti-000012/gt.png", 16, 0, 256 * SHIFT)
        self.expect("kitti-000012", "kitti", (16, "truth"), None)

    def test_middlebury_2014(self):
        self.views("a/im0.png", "a/im1.png")
        self.pfm("a/disp0.pfm")
        self.samples("a/mask0nocc.png", 8, 0, 255)
        self.write("a/calib.txt", b"cam0=[1 0 2; 0 1 2; 0 0 1]\nndisp=29\nisint=0\n")
        self.expect("a", "top", (29, "calib.txt"), 32 * 12 - 1)

    def test_middlebury_2006(self):
        """1110 rows count pixels, 555 half pixels, 370 thirds; disp5.png is not the left view's."""
        for scale, height in enumerate((1110, 555, 370), 1):
            self.views("a/view1.png", "a/view5.png", 20, height)
            self.samples("a/disp1.png", 8, 0, SHIFT * scale, 20, height)
            self.samples("a/disp5.png", 8, 0, 90, 20, height)
            self.expect("a", "top", (16, "truth"), None, 20 * height - 1)
        self.views("a/view1.png", "a/view5.png")
        self.samples("a/disp1.png", 8, 0, 4 * SHIFT)
        self.refuse("set --truth-scale")
        self.expect("a", "top", (16, "truth"), None, words=("--truth-scale", "4"))

    def test_kitti(self):
        """KITTI 2015, and 2012 in colour and in grey. Frames without a truth count only where the set has none."""
        for k, (left, right, occ, noc) in enumerate((("image_2", "image_3", "disp_occ_0", "disp_noc_0"), ("colored_0", "colored_1", "disp_occ", "disp_noc"),
                                                     ("image_0", "image_1", "disp_occ", "disp_noc"))):
            self.top = os.path.join(os.path.dirname(self.top), f"set{k}", "training")
            for frame in ("000007_10.png", "000007_11.png"):
                self.views(f"{left}/{frame}", f"{right}/{frame}")
            scene = self.scene()
            self.assertEqual((scene["scene"], scene["group"], scene["disparities_from"]), ("000007_10", f"set{k}/training", "default"))
            self.assertNotIn("all", scene)
            self.samples(f"{noc}/000007_10.png", 16, 0, 256 * SHIFT)
            self.expect("000007_10", f"set{k}/training", (16, "truth"), 32 * 12 - 1)
            self.samples(f"{occ}/000007_10.png", 16, 256 * SHIFT, 256 * SHIFT)
            self.expect("000007_10", f"set{k}/training", (16, "truth"), 32 * 12 - 1, 32 * 12)

    def test_sequences(self):
        """Frames in left/ and right/ alone are a sequence without a truth, and no scene."""
        for name in ("calm/{}/1_10.png", "street/{}/1.png", "street/{}/2.png"):
            self.views(name.format("left"), name.format("right"))
        self.samples("street/gt/2.png", 16, 0, 256 * SHIFT)
        found = json.loads(self.run_bench("--scene", "street/*").stdout)
        self.assertEqual([(scene["scene"], scene["group"], scene["disparities"]) for scene in found], [("street/2", "street", 16)])

    def test_many_in_order(self):
        for name in ("b/2", "a", "b/1", "one/two/three/four"):
            self.views(f"{name}/left.png", f"{name}/right.png")
        self.samples("a/mask_nocc.png", 8, 0, 255)  # alone it says nothing
        found = json.loads(self.run_bench().stdout)
        self.assertEqual([(scene["scene"], scene["group"], "all" in scene) for scene in found],
                         [("a", "top", False), ("b/1", "b", False), ("b/2", "b", False)])

    def test_what_is_refused(self):
        self.views("a/left.png", "a/right.png")
        for name, data, text in (("gt.pfm", b"Pf\n7 5\n-1.0\nshort", "not a readable PFM"), ("gt.pfm", b"PF\n7 5\n-1.0\n", "not a readable PFM"),
                                 ("gt.pfm", b"Pf\n-7 5\n-1\n", "not a readable PFM"), ("gt.pfm", b"Pf\n99999999 5\n-1\n", "not a readable PFM"),
                                 ("gt.png", b"", "gt.png"), ("gt.png", b"no picture at all", "gt.png"), ("gt.png", b"\211PNG\r\n\032\n", "gt.png"),
                                 ("calib.txt", b"ndisp=many\n", "ndisp must be"), ("calib.txt", b"ndisp=0\n", "ndisp must be")):
            self.write(f"a/{name}", data)
            self.refuse(text)
            os.remove(self.path(f"a/{name}"))
        self.pfm("a/gt.pfm", width=33)
        self.refuse("must have the size")
        self.pfm("a/gt.pfm")
        self.samples("a/mask_nocc.png", 8, 0, 255, height=11)
        self.refuse("must have the size")
        os.remove(self.path("a/mask_nocc.png"))
        os.remove(self.path("a/gt.pfm"))
        self.views("a/gt.png", "b", colours=True)
        self.refuse("grey samples alone")
        self.samples("a/gt.png", 16, 0, 256)
        with open(self.path("a/gt.png"), "r+b") as file:
            file.truncate(os.path.getsize(self.path("a/gt.png")) - 25)
        self.refuse("gt.png")
        os.remove(self.path("a/gt.png"))
        self.views("x/left.png", "a/right.png", width=33)
        os.remove(self.path("x/left.png"))
        self.refuse("must have the size")
        os.remove(self.path("a/right.png"))
        self.refuse("without right.png")

    def test_fifos(self):
        """A FIFO is refused: to open one would wait for ever."""
        for name in ("left.png", "gt.pfm", "gt.png", "mask_nocc.png", "calib.txt"):
            self.views("a/left.png", "a/right.png")
            if name != "gt.png":
                self.pfm("a/gt.pfm")
            if os.path.exists(self.path(f"a/{name}")):
                os.remove(self.path(f"a/{name}"))
            os.mkfifo(self.path(f"a/{name}"))
            self.refuse("is no regular file")
            os.remove(self.path(f"a/{name}"))
            if os.path.exists(self.path("a/gt.pfm")):
                os.remove(self.path("a/gt.pfm"))
        self.views("a/left.png", "a/right.png")
        os.mkfifo(self.path("out/a-cpu-disparity.png"))
        self.refuse("is no regular file", "--write", self.path("out"))


if __name__ == "__main__":
    Table.bench = Layouts.bench = os.path.abspath(sys.argv.pop(1))
    unittest.main()
