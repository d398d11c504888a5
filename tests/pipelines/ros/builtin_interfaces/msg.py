# SPDX-License-Identifier: LGPL-2.1-or-later
from messages import Time  # noqa: F401
