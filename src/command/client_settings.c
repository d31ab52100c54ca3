/* See command/client_settings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/client_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/text.h"

#define FILE_NAME "anteroom/client.conf"
#define FILE_MOST 65536

/* Returns NULL if the variable is not set or is empty. */
static const char *environment_text(const char *name)
{
	const char *value = getenv(name);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

/* ---- files ---- */

/* The mode of a pipe or a device does not matter. A file of another user, such as a secret that
 * root mounted into a container, is for that user to protect. */
static bool refuse_others(const char *path, int file, struct fault *fault)
{
	struct stat status;

	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IRWXG | S_IRWXO)) == 0)
		return true;
	return fault_cause(
		fault, FAULT_BAD_REQUEST, 0,
		"%s contains a token but other users can read it (mode %04o); run: chmod 600 %s",
		path, (unsigned)(status.st_mode & 07777), path);
}

static bool read_settings_file(const char *path, int file, struct buffer *text, struct fault *fault)
{
	while (text->size <= FILE_MOST) {
		const ssize_t got = read(file, buffer_reserve(text, FILE_MOST), FILE_MOST);

		if (got == 0)
			return true;
		if (got > 0)
			text->size += (size_t)got;
		else if (errno != EINTR)
			return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot read %s", path);
	}
	return fault_cause(fault, FAULT_BAD_REQUEST, EFBIG, "cannot read %s", path);
}

/* ---- tokens ---- */

/* Only a single word is accepted: anything else could become another header. */
static bool take_token_text(struct arena *arena, struct slice token, const char *place,
			    struct client_settings *settings, struct fault *fault)
{
	token = text_trim(token, TEXT_BLANKS "\r\n");
	for (size_t i = 0; i < token.size; i++)
		if (token.data[i] <= ' ' || token.data[i] > '~')
			return fault_cause(fault, FAULT_BAD_REQUEST, 0,
					   "%s does not contain a token: it must be a single word",
					   place);
	if (token.size == 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "%s has no token", place);
	settings->token = arena_copy(arena, token).data;
	return true;
}

static bool take_token_file(struct arena *arena, const char *path, struct client_settings *settings,
			    struct fault *fault)
{
	struct buffer text = BUFFER_INITIAL(arena);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool is_taken;

	/* A token that was given in place of a file name must not be shown. */
	if (file < 0 && (strncmp(path, "eyJ", 3) == 0 || strncmp(path, "ak_", 3) == 0))
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"--token-file takes a file name, not a token, because other users can see "
			"command lines; put the token into a file or into ANTEROOM_TOKEN");
	if (file < 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot open %s", path);
	is_taken = refuse_others(path, file, fault) &&
		   read_settings_file(path, file, &text, fault) &&
		   take_token_text(arena, buffer_slice(&text), path, settings, fault);
	close(file);
	return is_taken;
}

/* ---- the file client.conf ---- */

/* The values in the file; NULL for those that are not there. */
struct lines {
	const char *url, *token_file, *token;
};

/* Returns false if the line is not valid in this file. */
static bool take_settings_line(struct arena *arena, struct slice line, struct lines *lines)
{
	struct slice value;
	struct slice name = text_trim(text_split(line, '=', &value), TEXT_BLANKS);

	if (name.size == 0)
		return value.data == NULL;
	if (name.data[0] == '#')
		return true;
	value = text_trim(value, TEXT_BLANKS "\r");
	if (value.size == 0)
		return false;
	if (slice_is(name, "url"))
		lines->url = arena_copy(arena, value).data;
	else if (slice_is(name, "token-file"))
		lines->token_file = arena_copy(arena, value).data;
	else if (slice_is(name, "token"))
		lines->token = arena_copy(arena, value).data;
	else
		return false;
	return true;
}

static bool use_settings_file(struct arena *arena, struct client_settings *settings,
			      struct fault *fault)
{
	const char *home = environment_text("HOME");
	const char *config = environment_text("XDG_CONFIG_HOME");
	const char *path = NULL;
	struct buffer text = BUFFER_INITIAL(arena);
	struct lines lines = { 0 };
	char directory[PATH_MAX];
	struct slice rest;
	bool is_read;
	int file;

	/* A relative XDG_CONFIG_HOME is ignored, as its specification requires. */
	if (config != NULL && config[0] == '/')
		path = arena_text(arena, "%s/" FILE_NAME, config);
	else if (home != NULL)
		path = arena_text(arena, "%s/.config/" FILE_NAME, home);
	if (path == NULL)
		return true;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno == ENOENT || errno == ENOTDIR ||
		       fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot open %s", path);
	is_read = read_settings_file(path, file, &text, fault);
	rest = buffer_slice(&text);
	for (int number = 1; is_read && rest.data != NULL; number++) {
		const struct slice line = text_split(rest, '\n', &rest);

		is_read =
			take_settings_line(arena, text_trim(line, TEXT_BLANKS "\r"), &lines) ||
			fault_cause(fault, FAULT_BAD_REQUEST, 0,
				    "%s, line %d: expected url = URL, token-file = FILE or token = "
				    "TOKEN",
				    path, number);
	}
	is_read = is_read && (lines.token == NULL || refuse_others(path, file, fault));
	close(file);
	if (!is_read)
		return false;
	if (settings->url == NULL)
		settings->url = lines.url;
	if (settings->token != NULL)
		return true;
	if (lines.token != NULL)
		return take_token_text(arena, slice_of(lines.token), path, settings, fault);
	if (lines.token_file == NULL)
		return true;
	/* A relative path is relative to the directory of client.conf. */
	directory_of(path, directory);
	if (lines.token_file[0] != '/')
		lines.token_file = arena_text(arena, "%s/%s", directory, lines.token_file);
	return take_token_file(arena, lines.token_file, settings, fault);
}

/* ---- all of it ---- */

static bool check_service_url(struct arena *arena, struct client_settings *settings,
			      struct fault *fault)
{
	static const char version[] = "/v2";
	const size_t size = sizeof version - 1;
	struct slice url = slice_of(settings->url);
	struct slice rest;
	const char *host, *end;
	const bool is_http = text_begins_ignoring_case(url, SLICE("http://"));

	if (!is_http && !text_begins_ignoring_case(url, SLICE("https://")))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the URL must start with https:// or http://, got \"%s\"",
				   url.data);
	(void)text_split(url, '/', &rest);
	if (strpbrk(url.data, "?#@ ") != NULL || rest.size < 2)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"the URL must have a scheme and a host, and may have a port and a path");
	if (!text_url_has_right_port(url))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the URL " TEXT_PORT_SENTENCE ": got \"%s\"", settings->url);
	while (url.size > 0 && url.data[url.size - 1] == '/')
		url.size--;
	/* A host may have the name of the version. */
	host = strstr(url.data, "://") + 3;
	end = url.data + url.size;
	if (end - host > (ptrdiff_t)size && memcmp(end - size, version, size) == 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the URL must not include /v2: got \"%s\"", settings->url);
	settings->url = arena_copy(arena, url).data;
	return true;
}

bool client_settings_find(struct arena *arena, const char *url, const char *token_file,
			  struct client_settings *settings, struct fault *fault)
{
	const char *token = environment_text("ANTEROOM_TOKEN");

	*settings = (struct client_settings){ .url = url };
	if (settings->url == NULL)
		settings->url = environment_text("ANTEROOM_URL");
	if (token_file != NULL
		    ? !take_token_file(arena, token_file, settings, fault)
		    : token != NULL && !take_token_text(arena, slice_of(token), "ANTEROOM_TOKEN",
							settings, fault))
		return false;
	if ((settings->url == NULL || settings->token == NULL) &&
	    !use_settings_file(arena, settings, fault))
		return false;
	if (settings->url == NULL)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"no server URL: use --url URL, set ANTEROOM_URL, or add the line url = "
			"URL to ~/.config/anteroom/client.conf");
	if (settings->token == NULL)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"no token: use --token-file FILE, set ANTEROOM_TOKEN, or add the line "
			"token-file = FILE to ~/.config/anteroom/client.conf; anteroom token "
			"prints a token");
	return check_service_url(arena, settings, fault);
}
