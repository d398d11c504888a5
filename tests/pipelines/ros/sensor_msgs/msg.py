# SPDX-License-Identifier: LGPL-2.1-or-later
from messages import CameraInfo, Image, PointCloud2, PointField  # noqa: F401
