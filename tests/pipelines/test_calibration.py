# SPDX-License-Identifier: LGPL-2.1-or-later
"""calibration.py: one pair of cameras, written as each program writes it, is read as that pair. What is refused is named.

test_calibration.py FOLDER
"""
import os
import random
import subprocess
import sys
import unittest

PIPELINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pipelines")
sys.path.insert(0, PIPELINES)
import calibration  # noqa: E402
from calibration import Options, invert, multiply, rotation_of  # noqa: E402

try:
    import yaml  # noqa: F401
except ImportError:
    print("skipped: Python has no PyYAML")
    sys.exit(77)

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
SEED = int(os.environ.get("STEREO_TEST_SEED", 0)) or random.SystemRandom().getrandbits(32)
draws = random.Random(SEED)


def frame(near, far, turn=0.3):
    """A rotation and a translation, whose x is from near to far, m."""
    r = rotation_of([draws.uniform(-turn, turn) for _ in range(3)])
    t = [draws.uniform(near, far), draws.uniform(-0.02, 0.02), draws.uniform(-0.02, 0.02)]
    return [r[3 * i:3 * i + 3] + [t[i]] for i in range(3)]


def rows(a):
    return "[" + ", ".join(map(repr, a)) + "]"


def flat(a):
    return [value for row in a for value in row]


def matrix(name, count, values):
    return f"{name}: !!opencv-matrix\n   rows: {count}\n   cols: {len(values) // count}\n   dt: d\n   data: {rows(values)}\n"


def k_of(camera):
    fx, fy, cx, cy = camera
    return [fx, 0, cx, 0, fy, cy, 0, 0, 1]


SIZE = (draws.randint(300, 2000), draws.randint(300, 2000))
CAMERAS = [[draws.uniform(300, 2000) for _ in range(4)] for _ in range(2)]
LENSES = [[draws.uniform(-0.3, 0.3) for _ in range(4)] for _ in range(2)]
POSE = frame(-0.5, -0.05)  # from the left camera to the right one
R = [rotation_of([0.01, 0.02 * v, 0.03]) for v in (1, 2)]
P = [[500.5, 0, 320.25, -60.5 * v, 0, 500.5, 240.75, 0, 0, 0, 1, 0] for v in (0, 1)]
P_MM = [[value * (1000 if i % 4 == 3 else 1) for i, value in enumerate(p)] for p in P]
IMU = frame(0.1, 1, 2)
LAST = [[0, 0, 0, 1]]


def kalibr(frames, model="radtan", key="T_cn_cnm1"):
    """A chain; or with @key each camera and a frame of its own."""
    text = ""
    for n, place in enumerate(frames):
        text += f"cam{n}:\n" + (f"  {key}:\n" + "".join(f"  - {rows(row)}\n" for row in place + LAST) if place else "")
        text += (f"  camera_model: pinhole\n  distortion_coeffs: {rows(LENSES[n % 2])}\n  distortion_model: {model}\n"
                 f"  intrinsics: {rows(CAMERAS[n % 2])}\n  resolution: {rows(SIZE)}\n")
    return text


def euroc(v, body):
    return (f"sensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n  data: {rows(flat(body + LAST))}\nresolution: {rows(SIZE)}\n"
            f"camera_model: pinhole\nintrinsics: {rows(CAMERAS[v])}\ndistortion_model: radial-tangential\n"
            f"distortion_coefficients: {rows(LENSES[v])}\n")


def ost(v, section):
    def block(values, n):
        return "\n".join(" ".join(map(repr, values[i:i + n])) for i in range(0, len(values), n))
    return (f"# oST version 5.0 parameters\n\n[image]\n\nwidth\n{SIZE[0]}\n\nheight\n{SIZE[1]}\n\n[{section}]\n\n"
            f"camera matrix\n{block(k_of(CAMERAS[v]), 3)}\n\ndistortion\n{block(LENSES[v], 9)}\n\n"
            f"rectification\n{block(R[v], 3)}\n\nprojection\n{block(P[v], 4)}\n\n")


def orbslam2():
    text = f"%YAML:1.0\nCamera.fx: 1.\nCamera.bf: 40.\nCamera.width: {SIZE[0]}\nCamera.height: {SIZE[1]}\n"
    for v, side in enumerate(("LEFT", "RIGHT")):
        text += matrix(f"{side}.K", 3, k_of(CAMERAS[v])) + matrix(f"{side}.D", 1, LENSES[v])
        text += matrix(f"{side}.R", 3, R[v]) + matrix(f"{side}.P", 3, P[v])
    return text


def orbslam3(model, pose, key="Stereo.T_c1_c2"):
    names = ("k1", "k2", "k3", "k4") if model == "KannalaBrandt8" else ("k1", "k2", "p1", "p2")
    text = f'%YAML:1.0\nCamera.type: "{model}"\nCamera.width: {SIZE[0]}\nCamera.height: {SIZE[1]}\n'
    for v in (0, 1):
        for name, value in zip(("fx", "fy", "cx", "cy") + names, CAMERAS[v] + LENSES[v]):
            text += f"Camera{v + 1}.{name}: {value!r}\n"
    return text + matrix(key, 4, flat(invert(pose) + LAST))


def orbslam_rectified(key, value):
    return "".join(f"Camera.{name}: {number!r}\n" for name, number in zip(("fx", "fy", "cx", "cy"), CAMERAS[0])) + \
        f"{key}: {value!r}\n"


TURN = [0.011, -0.007, 0.004]


def zed(modes, disto=False):
    text = ""
    for mode in modes:
        for v, side in enumerate(("LEFT", "RIGHT")):
            lens = dict(zip(("k1", "k2", "p1", "p2"), LENSES[v]))
            text += f"[{side}_CAM_{mode}]\n" + "".join(f"{key} = {value!r}\n" for key, value in zip(
                ("fx", "fy", "cx", "cy"), CAMERAS[v]))
            text += "" if disto else "".join(f"{key}={value!r}\n" for key, value in lens.items())
    for v, side in enumerate(("LEFT", "RIGHT")):
        text += (f"[{side}_DISTO]\n" + "".join(f"k{n + 1}={value!r}\n" for n, value in enumerate(LENSES[v]))) if disto else ""
    text += "[STEREO]\nBaseline=120.5\nTY=0.25\nTZ=-0.5\n"
    return text + "".join(f"RX_{mode}={TURN[0]}\nCV_{mode}={TURN[1]}\nRZ_{mode}={TURN[2]}\n" for mode in modes)


GREY, COLOUR = P, [[700.0, 0, 600, 44.5, 0, 701, 180, 0.2, 0, 0, 1, 0.001], [700.0, 0, 600, -339.5, 0, 701, 180, 2, 0, 0, 1, 0]]
COLOUR_MM = [[value * (1000 if i % 4 == 3 else 1) for i, value in enumerate(p)] for p in COLOUR]
ROWS = [" ".join(map(repr, p)) for p in GREY + COLOUR]


def kitti(*numbers, keys=True):
    return "".join((f"P{n}: " if keys else "") + ROWS[n] + "\n" for n in numbers) + ("Tr: 1 0 0 0\n" if keys else "")


def kitti_raw(first):
    """Cameras @first and the next; each pose is from camera 0."""
    text, frames = "calib_time: 09-Jan-2012 13:57:47\n", [IMU, multiply(POSE, IMU)]
    for v in (0, 1):
        turn, away = [value for row in frames[v] for value in row[:3]], [row[3] for row in frames[v]]
        for key, values in (("S", SIZE), ("K", k_of(CAMERAS[v])), ("D", LENSES[v] + [0.0]), ("R", turn), ("T", away),
                            ("S_rect", (1242, 375)), ("R_rect", R[v]), ("P_rect", P[v])):
            text += f"{key}_0{first + v}: {' '.join(map(repr, values))}\n"
    return text


MIDDLEBURY = ("cam0=[999.5 0 294.25; 0 999.5 252.75; 0 0 1]\ncam1=[999.5 0 327.25; 0 999.5 252.75; 0 0 1]\ndoffs=33\n"
              f"baseline=193.5\nwidth={SIZE[0]}\nheight={SIZE[1]}\nndisp=70\n")
INTRINSICS = "%YAML:1.0\n---\n" + "".join(matrix(f"M{v + 1}", 3, k_of(CAMERAS[v])) + matrix(f"D{v + 1}", 1, LENSES[v])
                                         for v in (0, 1))
EXTRINSICS = "%YAML:1.0\n---\n" + matrix("R", 3, [v for row in POSE for v in row[:3]]) + matrix(
    "T", 3, [1000 * row[3] for row in POSE])
ZED_OPENCV = (f"%YAML:1.0\n---\nSize: {rows(SIZE)}\n" + "".join(
    f"K_{side}: {rows(k_of(CAMERAS[v]))}\nD_{side}_FE: {rows(LENSES[v])}\n" for v, side in enumerate(("LEFT", "RIGHT"))) +
    f"R: {rows(TURN)}\nT: [ -120.5, 0.25, -0.5 ]\n")
XML = ("<?xml version=\"1.0\"?>\n<opencv_storage>\n" + "".join(
    f"<M{v + 1} type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><dt>d</dt><data>{' '.join(map(repr, k_of(CAMERAS[v])))}"
    f"</data></M{v + 1}>\n<D{v + 1}><rows>1</rows><cols>4</cols><data>{' '.join(map(repr, LENSES[v]))}</data></D{v + 1}>\n"
    for v in (0, 1)) + "</opencv_storage>\n")

STEPS = [frame(-0.5, -0.05) for _ in range(3)]
TURNED = (rotation_of(TURN), [-120.5, 0.25, -0.5])
RECTIFIED = {"size": SIZE, "rectified": (*R, *P_MM)}


def posed(pose=POSE, **more):
    return {"size": SIZE, "pose": ([v for row in pose for v in row[:3]], [1000 * row[3] for row in pose]), **more}


def straight(cameras, baseline):
    identity = calibration.IDENTITY
    return (identity, identity, *([c[0], 0, c[2], -c[0] * b, 0, c[1], c[3], 0, 0, 0, 1, 0] for c, b in zip(cameras, (0, baseline))))


ONE = [CAMERAS[0]] * 2
BOARD = [[999.5, 999.5, 294.25, 252.75], [999.5, 999.5, 327.25, 252.75]]
READ = {  # name: texts, options, what is not CAMERAS, LENSES and nothing else
    "Kalibr": ([kalibr([None, POSE])], {}, posed()),
    "Kalibr, fisheye": ([kalibr([None, POSE], "equidistant")], {}, posed(fisheye=True)),
    "Kalibr, along the chain": ([kalibr([None, *STEPS])], {"cameras": (0, 3)},
                                posed(multiply(STEPS[2], multiply(STEPS[1], STEPS[0])))),
    "Kalibr, back along it": ([kalibr([None, *STEPS])], {"cameras": (2, 1)},
                              posed(invert(STEPS[1]), cameras=CAMERAS, lenses=LENSES)),
    "Kalibr, to the IMU": ([kalibr([IMU, multiply(POSE, IMU)], key="T_cam_imu")], {}, posed()),
    "Kalibr, from the IMU": ([kalibr([invert(IMU), invert(multiply(POSE, IMU))], key="T_imu_cam")], {}, posed()),
    "EuRoC": ([euroc(0, IMU), euroc(1, multiply(IMU, invert(POSE)))], {}, posed()),
    "ROS, ost.txt": ([ost(0, "narrow_stereo/left") + ost(1, "narrow_stereo/right")], {}, RECTIFIED),
    "ROS, right first": ([ost(1, "narrow_stereo/right") + ost(0, "narrow_stereo/left")], {}, RECTIFIED),
    "ROS, any names": (["; a comment\r\n" + ost(0, "cam_a") + ost(1, "cam_b")], {}, RECTIFIED),
    "ROS, two INI files": ([ost(0, "12345"), ost(1, "front_left")], {}, RECTIFIED),
    "ORB-SLAM2": ([orbslam2()], {}, RECTIFIED),
    "ORB-SLAM3": ([orbslam3("PinHole", POSE)], {}, posed(lenses=[lens + [0] * 4 for lens in LENSES])),
    "ORB-SLAM3, fisheye": ([orbslam3("KannalaBrandt8", POSE, "Tlr")], {}, posed(fisheye=True)),
    "ORB-SLAM, rectified, bf": ([orbslam_rectified("Camera.bf", 0.12 * CAMERAS[0][0])], {},
                                {"cameras": ONE, "lenses": [[0] * 5] * 2, "rectified": straight(ONE, 120)}),
    "ORB-SLAM, rectified, b": ([orbslam_rectified("Stereo.b", 0.12)], {},
                               {"cameras": ONE, "lenses": [[0] * 5] * 2, "rectified": straight(ONE, 120)}),
    "ZED": ([zed(["HD"])], {}, {"size": (1280, 720), "pose": TURNED, "lenses": [lens + [0] * 4 for lens in LENSES]}),
    "ZED, a size": ([zed(["2K", "FHD", "HD", "VGA"])], {"size": (672, 376)},
                    {"size": (672, 376), "pose": TURNED, "lenses": [lens + [0] * 4 for lens in LENSES]}),
    "ZED, half of a size": ([zed(["VGA", "FHD"])], {"size": (960, 540)},
                            {"size": (1920, 1080), "pose": TURNED, "lenses": [lens + [0] * 4 for lens in LENSES]}),
    "ZED, fisheye": ([zed(["HD"], disto=True)], {}, {"size": (1280, 720), "pose": TURNED, "fisheye": True}),
    "KITTI": ([kitti(0, 1, 2, 3)], {}, {"rectified": (*[calibration.IDENTITY] * 2, *P_MM), "lenses": [[0] * 5] * 2,
                                        "cameras": [[500.5, 500.5, 320.25, 240.75]] * 2}),
    "KITTI, rows": ([kitti(0, 1, 2, 3, keys=False)], {}, {"rectified": (*[calibration.IDENTITY] * 2, *P_MM),
                                                         "lenses": [[0] * 5] * 2, "cameras": [[500.5, 500.5, 320.25, 240.75]] * 2}),
    "KITTI, colour": ([kitti(0, 1, 2, 3)], {"cameras": (2, 3)},
                      {"rectified": (*[calibration.IDENTITY] * 2, *COLOUR_MM), "lenses": [[0] * 5] * 2,
                       "cameras": [[700, 701, 600, 180]] * 2}),
    "KITTI, colour alone": ([kitti(2, 3)], {}, {"rectified": (*[calibration.IDENTITY] * 2, *COLOUR_MM),
                                                "lenses": [[0] * 5] * 2, "cameras": [[700, 701, 600, 180]] * 2}),
    "KITTI, raw": ([kitti_raw(0)], {}, posed(rectified=(*R, *P_MM), rectified_size=(1242, 375),
                                             lenses=[lens + [0] for lens in LENSES])),
    "KITTI, raw, colour": ([kitti_raw(2)], {"cameras": (2, 3)},
                           posed(rectified=(*R, *P_MM), rectified_size=(1242, 375), lenses=[lens + [0] for lens in LENSES])),
    "Middlebury": ([MIDDLEBURY], {}, {"size": SIZE, "cameras": BOARD, "lenses": [[0] * 5] * 2,
                                      "rectified": straight(BOARD, 193.5)}),
    "Middlebury, as Matlab": ([MIDDLEBURY.replace(" 0 ", ", 0, ").replace("=", " = ")], {},
                              {"size": SIZE, "cameras": BOARD, "lenses": [[0] * 5] * 2, "rectified": straight(BOARD, 193.5)}),
    "OpenCV, in two": ([INTRINSICS, EXTRINSICS], {}, posed(size=None)),
    "OpenCV, in two, the other first": ([EXTRINSICS, INTRINSICS], {}, posed(size=None)),
    "OpenCV, XML and YAML": ([XML, EXTRINSICS], {}, posed(size=None)),
    "OpenCV, of ZED's tool": ([ZED_OPENCV], {}, {"size": SIZE, "pose": TURNED, "fisheye": True}),
}

REFUSED = {  # texts, options, what is said
    "one of two": ([euroc(0, IMU)], {}, "EuRoC.*both cameras"),
    "one of two of ROS": ([ost(0, "left")], {}, "ost.txt.*one camera"),
    "twice": ([kalibr([None, POSE])] * 2, {}, "Kalibr.*only this file"),
    "no lens model": ([kalibr([None, POSE], "fov")], {}, "Kalibr.*'fov'.*not supported.*equidistant"),
    "no chain": ([kalibr([None, None])], {}, r"cam1\.T_cn_cnm1 is missing"),
    "no camera 2": ([kalibr([None, POSE])], {"cameras": (0, 2)}, "cam2 is missing"),
    "a bent frame": ([kalibr([None, [[row[0] + 0.1] + row[1:] for row in POSE]])], {}, "not a rotation"),
    "too many": ([kalibr([None, POSE]).replace("intrinsics: [", "intrinsics: [1, ")], {}, "5 values, but needs 4"),
    "no number": ([kalibr([None, POSE]).replace("intrinsics: [", "intrinsics: [x")], {}, "intrinsics.*not a number"),
    "infinite": ([kalibr([None, POSE]).replace("intrinsics: [", "intrinsics: [.inf, ")], {}, "not finite"),
    "two sizes": ([kalibr([None, POSE]).replace("resolution: [", "resolution: [7, 9]\n  other: [", 1)], {}, "one kind and size"),
    "decimal commas": (["Camera.fx: 435,2\nCamera.fy: 1\nCamera.bf: 1\n"], {}, "'435,2'.*decimal points"),
    "no YAML": (["cam0:\n  intrinsics: [500,2,, 3]\n"], {}, "no YAML.*decimal commas"),
    "deep": (["cam0:\n" + "  a: " + "[" * 5000 + "\n"], {}, "no YAML"),
    "an alias in itself": (["Camera.fx: &a [*a]\n"], {}, "Camera.fx.*not a number"),
    "another kind": (["cam0: 5\ncam1: [1]\n", ], {}, "Kalibr|no calibration"),
    "another kind of matrix": (["T_BS: 5\nresolution: {a: 1}\n"] * 2, {}, "EuRoC"),
    "names without numbers": (["[image]\n5 6 7\n"], {}, r"\[image\].*without a name.*5 6 7"),
    "no section": ([zed(["XXL"])], {}, "LEFT_CAM_HD"),
    "no value": ([zed(["HD"]).replace("fy = ", "fz = ")], {}, "ZED.*fy is missing"),
    "no cameras to choose": ([zed(["HD"])], {"cameras": (0, 1)}, "leave it out"),
    "a lens and one camera": ([orbslam_rectified("Camera.bf", 40.0) + "Camera.k1: 0.1\n"], {}, "ORB-SLAM.*LEFT.K"),
    "no pose": ([orbslam3("PinHole", POSE, "Stereo.T")], {}, "Stereo.T_c1_c2 is missing"),
    "no P4": ([kitti(0, 1)], {"cameras": (4, 5)}, "P4 is missing.*P0, P1"),
    "poses": (["1 0 0 0 0 1 0 0 0 0 1 0\n" * 5], {}, "more than 4 rows.*poses"),
    "another doffs": ([MIDDLEBURY.replace("doffs=33", "doffs=130")], {}, "doffs is 130.*33 px"),
    "no camera matrix": ([MIDDLEBURY.replace("[999.5 0 ", "[999.5 1 ")], {}, "cam0 is no camera matrix"),
    "Basalt": (['{ "value0": { "intrinsics": [] } }'], {}, "Basalt.*M1 D1 M2 D2"),
    "VINS": (["model_type: MEI\n"], {}, "VINS"),
    "DepthAI": (['{ "cameraData": [] }'], {}, "DepthAI"),
    "OKVIS": (["cameras:\n- a\n"], {}, "OKVIS"),
    "pictures": (["images:\n - a.png\n"], {}, "list of pictures"),
    "one camera_info": (["camera_matrix:\n  data: [1]\n"], {}, "one camera.*left one first"),
    "nothing": ([""], {}, "no calibration of.*Kalibr"),
    "a letter": (["hello"], {}, "no calibration of"),
}


def run(*arguments):
    return subprocess.run([sys.executable, os.path.join(PIPELINES, "calibration.py"), *arguments], capture_output=True, text=True)


def put(name, text, coding="utf-8"):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(text.encode(coding))
    return path


class Calibration(unittest.TestCase):
    def close(self, name, read, wanted):
        self.assertEqual(len(read), len(wanted), name)
        for a, b in zip(read, wanted):
            self.assertLessEqual(abs(a - b), 1e-9 * (1 + abs(b)), f"{name}: {read}, not {wanted}")

    def test_formats(self):
        for name, (texts, options, wanted) in READ.items():
            with self.subTest(name, seed=SEED):
                pair = calibration.convert(texts, Options(**options))
                cameras, lenses = wanted.get("cameras", CAMERAS), wanted.get("lenses", LENSES)
                for v in (0, 1):
                    self.close("camera", pair.cameras[v], cameras[v])
                    self.close("lens", pair.lenses[v], lenses[v])
                for key in "size", "fisheye", "rectified_size":
                    self.assertEqual(getattr(pair, key) or None, wanted.get(key), key)
                for key in "pose", "rectified":
                    read, there = getattr(pair, key), wanted.get(key)
                    self.assertEqual(read is None, there is None, key)
                    for a, b in zip(read or (), there or ()):
                        self.close(key, a, b)

    def test_refused(self):
        for name, (texts, options, words) in REFUSED.items():
            with self.subTest(name, seed=SEED), self.assertRaisesRegex(calibration.Refused, words):
                calibration.convert(texts, Options(**options))

    def test_cut(self):
        """A text that ends anywhere is read or refused, and nothing else happens."""
        for name, (texts, options, _) in READ.items():
            for end in range(0, len(texts[0]), 1 + len(texts[0]) // 60):
                with self.subTest(name, end=end, seed=SEED):
                    try:
                        calibration.convert([texts[0][:end], *texts[1:]], Options(**options))
                    except calibration.Refused as refused:
                        self.assertGreater(len(str(refused)), 20)

    def test_program(self):
        left, right, chain = put("left.ini", ost(0, "a")), put("right.ini", ost(1, "b")), put("chain.yaml", kalibr([None, POSE]))
        native, out = put("native.yml", INTRINSICS + EXTRINSICS[len("%YAML:1.0\n---\n"):]), os.path.join(FOLDER, "made.yml")
        info = [put(f"info{v}.yaml", "header:\n  a: b\nk: [1]\np: [1]\n") for v in (0, 1)]
        table = (  # arguments, status, what is said, whether a file is made
            ((left, right, "-o", out), 0, "made.yml is written", True),
            ((f"{left},{right}", "-o", out, "--if-needed"), 0, r"^.*made\.yml$", True),
            ((chain, "-o", out, "--cameras", "1,0"), 0, "made.yml is written", True),
            ((native, "-o", out), 0, "stereorectify reads this itself", False),
            ((native, "-o", out, "--if-needed"), 0, r"^.*native\.yml$", False),
            ((",".join(info), "-o", out, "--if-needed"), 0, r"info0\.yaml,.*info1\.yaml$", False),
            ((put("wide.yaml", kalibr([None, POSE]), "utf-16"), "-o", out), 0, "made.yml is written", True),
            ((put("marked.yaml", "\ufeff" + kalibr([None, POSE]).replace("\n", "\r\n")), "-o", out), 0, "is written", True),
            ((put("modes.conf", zed(["HD", "VGA"])), "-o", out), 0, "1280x720, 672x376: those for 1280x720 are taken", True),
            ((left, "-o", out), 1, "left.ini.*one camera", False),
            (("none.yml", "-o", out), 1, "no file none.yml", False),
            ((chain, "-o", os.path.join(FOLDER, "none", "a.yml")), 1, "cannot be written", False),
            ((chain, "-o", chain), 1, "a file that is read", False),
            ((chain, "-o", out, "--cameras", "2"), 1, "two numbers that differ", False),
            ((chain, "-o", out, "--size", "2"), 1, "width and height", False))
        for arguments, status, words, makes in table:
            with self.subTest(arguments=arguments[:-1], words=words):
                if os.path.exists(out):
                    os.remove(out)
                done = run(*arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertRegex(done.stdout + done.stderr, words)
                self.assertEqual(os.path.exists(out), makes)
                if makes:  # stereorectify and this program both know it
                    with open(out, encoding="utf-8") as file:
                        text = file.read()
                    self.assertTrue(calibration.is_read_by_stereorectify([text]))
                    self.assertEqual(calibration.text_of(calibration.convert([text], Options())), text)


if __name__ == "__main__":
    print("STEREO_TEST_SEED=%d" % SEED)
    unittest.main(argv=sys.argv[:1])
