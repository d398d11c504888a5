#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same mishaps for stereomatch and for what else there is: tests/others.sh runs it and says what it needs.

Every case runs in a process of its own, so that a crash or a standstill is a result like any other. Frames carry their
number: of four bands of one texture two have disparities 4 and 28, by which the picture is read whatever scale it has,
one a disparity that tells the right frame's number, and one that tells the left one's.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

WIDTH, HEIGHT, BAND = 320, 240, 60
LOW, HIGH, STEP = 4, 28, 2  # disparities of reference, and from a number to the next: 0..9
FRAME = 40000000
SECONDS = 25  # after which a case stands still
ELEMENTS = {
    'disparity': 'disparity name=m method=sbm',
    'stereomatch': 'stereomatch name=m backend=cpu method=bm num-disparities=32 subpixel=0 fill=keep consistency=-1 median=0',
}


# ---- numbered frames -----------------------------------------------------------------------------------------------

def texture():
    import numpy
    return numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH + 64, 1), numpy.uint8).repeat(3, 2)


def view(number, right):
    """A frame; a pair's disparity in a band is what its left view is shifted by less what its right one is."""
    import numpy
    whole, rows = texture(), []
    for band, shift in enumerate([(0, LOW), (0, HIGH), (0, LOW + STEP * number), (LOW + STEP * number, 0)]):
        start = shift[1] if right else 32 - shift[0] if band == 3 else 0
        start += 32 if band == 3 and right else 0
        rows.append(whole[band * BAND:(band + 1) * BAND, start:start + WIDTH])
    return numpy.ascontiguousarray(numpy.concatenate(rows))


def read(picture):
    """(left, right) of a disparity picture, or None where it cannot be read."""
    import numpy
    bands = [float(numpy.median(picture[k * BAND + 12:(k + 1) * BAND - 12, 100:WIDTH - 40])) for k in range(4)]
    if bands[1] <= bands[0]:
        return None
    numbers = [(HIGH - LOW) * (bands[k] - bands[0]) / (bands[1] - bands[0]) / STEP for k in (3, 2)]
    if any(abs(n - round(n)) > 0.3 for n in numbers):
        return None
    return round(numbers[0]), round(numbers[1])


class Rig:
    """Two cameras that push what they are told, the element, and what comes out."""

    def __init__(self, element, live=False):
        import gi
        gi.require_version('Gst', '1.0')
        gi.require_version('GstVideo', '1.0')
        from gi.repository import Gst, GstVideo
        Gst.init(None)
        self.Gst, self.GstVideo = Gst, GstVideo
        source = f'appsrc format=time is-live={str(live).lower()} max-bytes=0'
        self.pipeline = Gst.parse_launch(f'{source} name=l ! queue ! m.sink_left {source} name=r ! queue ! m.sink_right '
                                         f'{ELEMENTS[element]} ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! '
                                         'appsink name=o sync=false')
        self.sources = [self.pipeline.get_by_name(name) for name in 'lr']
        self.sink = self.pipeline.get_by_name('o')
        self.pipeline.set_state(Gst.State.PLAYING)

    def push(self, right, picture, number):
        Gst = self.Gst
        height, width = picture.shape[:2]
        buffer = Gst.Buffer.new_wrapped(picture.tobytes())
        buffer.pts, buffer.duration = number * FRAME, FRAME
        # every field: disparity takes only what is equal to the caps that it makes of the first ones itself
        info = self.GstVideo.VideoInfo()
        info.set_format(self.GstVideo.VideoFormat.RGB, width, height)
        info.fps_n, info.fps_d = 25, 1
        self.sources[right].emit('push-sample', Gst.Sample.new(buffer, info.to_caps(), None, None))

    def send(self, numbers, right):
        for number in numbers:
            self.push(right, view(number, bool(right)), number)

    def end(self, *views):
        for right in views or (0, 1):
            self.sources[right].emit('end-of-stream')

    def outputs(self, wait=5):
        """What comes out until nothing does for so many seconds, and how it ends."""
        import numpy
        pictures, Gst = [], self.Gst
        while True:
            sample = self.sink.emit('try-pull-sample', wait * Gst.SECOND)
            if not sample:
                break
            caps, buffer = sample.get_caps().get_structure(0), sample.get_buffer()
            width, height = caps.get_value('width'), caps.get_value('height')
            ok, mapped = buffer.map(Gst.MapFlags.READ)
            assert ok
            if caps.get_value('format') == 'GRAY16_LE':
                picture = numpy.frombuffer(mapped.data, '<u2').reshape(height, -1)[:, :width].copy()
            else:
                picture = numpy.frombuffer(mapped.data, numpy.uint8).reshape(height, -1)[:, :3 * width:3].copy()
            buffer.unmap(mapped)
            pictures.append(picture)
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        how = 'end of stream' if self.sink.get_property('eos') else 'stands still'
        if message:
            how = 'error: ' + message.parse_error()[0].message
        return pictures, how

    def dropped(self):
        element = self.pipeline.get_by_name('m')
        if not element.find_property('stats'):
            return ''
        stats = element.get_property('stats')
        return f"; counts {stats.get_uint64('dropped-left')[1] + stats.get_uint64('dropped-right')[1]} dropped"


def verdict(pairs):
    right = sum(1 for pair in pairs if pair and pair[0] == pair[1])
    wrong = sum(1 for pair in pairs if pair and pair[0] != pair[1])
    text = f'{right} pairs of one moment, {wrong} of two'
    unread = len(pairs) - right - wrong
    return text + (f', {unread} that cannot be read' if unread else '')


# ---- streams -------------------------------------------------------------------------------------------------------

def streams(element, left, right, ends=True):
    rig = Rig(element)
    rig.send(left, 0)
    rig.send(right, 1)
    if ends:
        rig.end()
    pictures, how = rig.outputs()
    return f'{verdict([read(picture) for picture in pictures])}; {how}{rig.dropped()}'


def case_end(element):
    """4 frames of each view, then their end"""
    return streams(element, range(4), range(4))


def case_dropped(element):
    """10 moments; the left camera loses number 3"""
    return streams(element, [0, 1, 2, 4, 5, 6, 7, 8, 9], range(10))


def case_away(element):
    """10 moments; the right camera is away from 3 to 7, and comes back"""
    return streams(element, range(10), [0, 1, 2, 8, 9])


def stops(element, live):
    rig = Rig(element, live)
    rig.send(range(10), 0)
    rig.send(range(3), 1)
    rig.end(0)
    pictures, how = rig.outputs()
    return f'{verdict([read(picture) for picture in pictures])}; {how}{rig.dropped()}'


def case_stops(element):
    """the right camera stops after 3 frames and says nothing; the left one goes on to 10 and ends"""
    return stops(element, False)


def case_stops_live(element):
    """the same of live cameras"""
    return stops(element, True)


def case_ends(element):
    """the right camera ends after 3 frames, the left one goes on to 10"""
    return streams(element, range(10), range(3))


def case_sizes(element):
    """a left view of 320x240 and a right one of 160x120"""
    rig = Rig(element)
    for number in range(3):
        rig.push(0, view(number, False), number)
        rig.push(1, view(number, True)[::2, ::2].copy(), number)
    rig.end()
    pictures, how = rig.outputs()
    return f'{len(pictures)} pictures; {how}'


def case_change(element):
    """both views change to 160x120 after 3 of 6 frames"""
    rig = Rig(element)
    for right in (0, 1):
        for number in range(6):
            picture = view(number, bool(right))
            rig.push(right, picture if number < 3 else picture[::2, ::2].copy(), number)
    rig.end()
    pictures, how = rig.outputs()
    sizes = [f'{p.shape[1]}x{p.shape[0]}' for p in pictures]
    return f"{' '.join(f'{sizes.count(size)} of {size}' for size in sorted(set(sizes), reverse=True))}; {how}"


def launch(line):
    """(exit status, what it said) of a pipeline; 124 when it was stopped."""
    try:
        done = subprocess.run(['gst-launch-1.0', '-q'] + line.split(), capture_output=True, text=True, timeout=SECONDS - 5)
        return done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        return 124, ''


def case_still(element):
    """a pair of PNG files to one PNG file, gst-launch-1.0"""
    import cv2
    with tempfile.TemporaryDirectory() as folder:
        for right in (0, 1):
            cv2.imwrite(f'{folder}/{right}.png', view(5, bool(right)))
        status, _ = launch(f'{ELEMENTS[element]} ! videoconvert ! pngenc ! filesink location={folder}/out.png '
                           f'filesrc location={folder}/0.png ! pngdec ! videoconvert ! video/x-raw,format=RGB ! m.sink_left '
                           f'filesrc location={folder}/1.png ! pngdec ! videoconvert ! video/x-raw,format=RGB ! m.sink_right')
        size = os.path.getsize(f'{folder}/out.png') if os.path.exists(f'{folder}/out.png') else 0
        return f'exit status {status}, {"a file of " + str(size) + " bytes" if size else "an empty file"}'


def case_starts(element):
    """42 starts of gst-launch-1.0, two videotestsrc of 5 frames each"""
    failed, reasons = 0, {}
    for number in range(42):
        size = f'width={160 + 16 * (number % 7)},height=120'
        status, text = launch(f'videotestsrc num-buffers=5 ! video/x-raw,format=RGB,{size} ! m.sink_left '
                              f'videotestsrc num-buffers=5 ! video/x-raw,format=RGB,{size} ! m.sink_right '
                              f'{ELEMENTS[element]} ! fakesink')
        failed += status != 0
        for word in re.findall(r'not-negotiated|Segmentation|terminate', text):
            reasons[word] = reasons.get(word, 0) + 1
    return f'{failed} fail' + (f" ({', '.join(sorted(reasons))})" if reasons else '')


# ---- parameters ----------------------------------------------------------------------------------------------------

SMALL, NORMAL = (5, 3), (320, 240)
# name, size of the pictures, settings of OpenCV (matcher, arguments), of stereomatch
PARAMETERS = [
    ('an even window', NORMAL, ('bm', dict(blockSize=8)), 'method=bm window=8'),
    ('a window of -1', NORMAL, ('bm', dict(blockSize=-1)), 'method=bm window=-1'),
    ('a window larger than the picture', SMALL, ('bm', dict(blockSize=21)), 'method=bm window=21'),
    ('a picture of 1x1', (1, 1), ('bm', dict(blockSize=5)), 'method=bm window=5'),
    ('17 disparities', NORMAL, ('bm', dict(numDisparities=17)), 'method=bm num-disparities=17'),
    ('0 disparities', NORMAL, ('sgbm', dict(numDisparities=0)), 'method=sgm num-disparities=0'),
    ('more disparities than columns', SMALL, ('sgbm', dict(numDisparities=64)), 'method=sgm num-disparities=64'),
    ('a search far outside', NORMAL, ('bm', dict(minDisparity=2000000000)), 'method=bm min-disparity=2000000000'),
    ('a search far outside, sgm', NORMAL, ('sgbm', dict(minDisparity=2000000000)), 'method=sgm min-disparity=2000000000'),
    ('P1 above P2', NORMAL, ('sgbm', dict(P1=900, P2=100)), 'method=sgm p1=900 p2=100'),
    ('P1 below 0', NORMAL, ('sgbm', dict(P1=-5, P2=-1)), 'method=sgm p1=-5 p2=-1'),
    ('P2 of 2000000000', NORMAL, ('sgbm', dict(P1=8, P2=2000000000)), 'method=sgm p1=8 p2=2000000000'),
    ('views of two sizes', NORMAL, ('bm', dict(sizes=True)), None),
    ('a picture of floats with NaN', NORMAL, ('bm', dict(floats=True)), None),
]


def opencv(size, setting):
    import cv2
    import numpy
    kind, given = setting[0], dict(setting[1])
    random = numpy.random.default_rng(2)
    left, right = (random.integers(0, 256, (size[1], size[0]), numpy.uint8) for _ in range(2))
    if given.pop('sizes', False):
        right = right[::2, ::2].copy()
    if given.pop('floats', False):
        left = left.astype(numpy.float32)
        left[3, 3] = numpy.nan
    first = dict(numDisparities=32, blockSize=9 if kind == 'bm' else 3)
    first.update({name: given.pop(name) for name in list(given) if name in first})
    try:
        matcher = cv2.StereoBM_create(**first) if kind == 'bm' else cv2.StereoSGBM_create(**first)
        for name, value in given.items():
            getattr(matcher, 'set' + name[0].upper() + name[1:])(value)
        out = matcher.compute(left, right)
    except cv2.error as error:
        return 'exception: ' + re.sub(r'.*error: *|\s+', ' ', str(error)).strip()[:90]
    return f'a picture, {100 * float((out >= 16 * matcher.getMinDisparity()).mean()):.0f} % valid'


def ours(size, settings):
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    source = f'videotestsrc num-buffers=2 pattern=snow ! video/x-raw,format=GRAY8,width={size[0]},height={size[1]}'
    pipeline = Gst.parse_launch(f'{source} ! m.sink_left {source} ! m.sink_right '
                                f'stereomatch name=m backend=cpu {settings} ! appsink name=o sync=false')
    element, taken = pipeline.get_by_name('m'), []
    for name, value in (setting.split('=') for setting in settings.split()):
        now = element.get_property(name)
        if not isinstance(now, (int, float)) or hasattr(now, 'value_nick'):
            continue
        if float(now) != float(value):
            taken.append(f'{name}={value} becomes {now:g}')
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name('o').emit('try-pull-sample', 10 * Gst.SECOND)
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    if message:
        return 'error: ' + message.parse_error()[0].message[:110]
    if not sample:
        return 'stands still'
    data = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    samples = [data[k] or data[k + 1] for k in range(0, len(data), 2)]
    return '; '.join(taken + [f'a picture, {100 * sum(1 for value in samples if value) / len(samples):.0f} % valid'])


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith('case_')}


def in_process(*arguments):
    """What a case says; a signal or a standstill, if that is how it ends."""
    try:
        done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True,
                              timeout=SECONDS if arguments[1] != 'starts' else 42 * SECONDS)
    except subprocess.TimeoutExpired:
        return f'stands still for {SECONDS} s'
    if done.returncode < 0:
        return f'CRASH, signal {-done.returncode}'
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return f'exit status {done.returncode}: {(done.stderr.strip().splitlines() or ["nothing said"])[-1][:90]}'
    return json.loads(lines[-1])


def table(title, head, rows):
    print(f'\n{title}\n')
    print('| ' + ' | '.join(head) + ' |\n' + '|---' * len(head) + '|')
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    sys.stdout.flush()


def main():
    if len(sys.argv) > 2 and sys.argv[1] == 'case':
        result = CASES[sys.argv[2]](sys.argv[3])
    elif len(sys.argv) > 2 and sys.argv[1] in ('opencv', 'ours'):
        row = PARAMETERS[int(sys.argv[2])]
        result = opencv(row[1], row[2]) if sys.argv[1] == 'opencv' else ours(row[1], row[3])
    else:
        others = [name for name in ELEMENTS if name != 'disparity' or 'disparity' in sys.argv[1:]]
        table('Streams', ['case'] + others,
              [[function.__doc__] + [in_process('case', name, element) for element in others]
               for name, function in CASES.items()])
        table('Parameters and pictures', ['case', 'OpenCV', 'stereomatch'],
              [[row[0], f"Stereo{row[2][0].upper()}: {in_process('opencv', str(k))}", in_process('ours', str(k)) if row[3] else
                'see above' if 'sizes' in row[2][1] else 'no such caps'] for k, row in enumerate(PARAMETERS)])
        return
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # what hangs when it is torn down has said its result


main()
