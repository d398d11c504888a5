#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""stereo-bench on small made scenes: what it finds, its table and its JSON.

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

WIDTH, HEIGHT, SHIFT = 96, 40, 5


def write_png(path, bits, rows):
    """A grey PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packed = b"".join(b"\0" + struct.pack(f">{len(row)}{'H' if bits == 16 else 'B'}", *row) for row in rows)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 0, 0, 0, 0))
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
        figures = [row["all"]["bad1"] for row in self.rows()]
        text = self.run_bench().stdout
        for name, mean in (("mean of 2, kitti", sum(figures[:2]) / 2), ("mean of 3, all scenes", sum(figures) / 3)):
            found = re.search(re.escape(name) + r" *\| +[\d.]+ +([\d.]+) ", text)
            self.assertTrue(found, text)
            self.assertAlmostEqual(float(found.group(1)), mean, delta=0.006)
        self.assertIn("16*", text)
        self.assertIn("\n* the largest true disparity", text)

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
            printed = re.search(name.replace("bad1", "bad 1") + r" +([\d.]+)", self.sequence().stdout.splitlines()[-1])
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
                            (("--truth-scale", "0"), "--truth-scale 0: this takes")):
            done = self.run_bench(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    Table.bench = os.path.abspath(sys.argv.pop(1))
    unittest.main()
