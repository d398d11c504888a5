/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts inside a recording, for stereo-record: what was set when it was made. */
#ifndef ATTACHMENTS_H
#define ATTACHMENTS_H

#include <glib.h>

/* Adds a text to the comment of a recording. @option: --attach, and @word is NAME=FILE; or --text, and it is NAME=TEXT. FALSE
 * after a message on stderr. */
gboolean attachments_add (GString *comment, const gchar *option, const gchar *word);
/* Writes the texts of a recording into files of their names in @folder. FALSE after a message on stderr. */
gboolean attachments_extract (const gchar *recording, const gchar *folder);

#endif
