/* Reading and writing the manifest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/manifest.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "base/memory.h"

#define MAGIC "AnteMfst"
#define HEAD ((size_t)56)
#define INFO_SIZE ((size_t)64)
#define NUMBER_END ((size_t)12)
#define TAIL ((size_t)4)
#define SIZE_MOST ((size_t)16 << 20)

static bool is_no_manifest(const char *path, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s is not a store manifest", path);
}

bool manifest_check(const struct manifest *manifest, const char *directory,
		    const struct store_form *form, bool *is_earlier, bool *is_to_be_upgraded,
		    struct fault *fault)
{
	const struct store_form_kept kept = {
		.number = manifest->form_number,
		.text = { manifest->form, manifest->form_size },
	};
	char what[PATH_MAX + 16];

	snprintf(what, sizeof what, "the data in %s", directory);
	return store_form_check(form, &kept, what, is_earlier, is_to_be_upgraded, fault);
}

bool manifest_accept(const struct manifest *manifest, const char *directory,
		     const struct store_form *form, bool *is_earlier, struct fault *fault)
{
	const struct store_form_kept kept = {
		.number = manifest->form_number,
		.text = { manifest->form, manifest->form_size },
	};
	char what[PATH_MAX + 16];

	snprintf(what, sizeof what, "the data in %s", directory);
	return store_form_accept(form, &kept, what, is_earlier, fault);
}

static bool manifest_parse(const char *directory, const char *path, const char *bytes, size_t size,
			   unsigned most_number, struct manifest *manifest, struct fault *fault)
{
	size_t n, form_size, files_size;
	char what[PATH_MAX + 16];
	bool ignored;

	if (size < NUMBER_END || memcmp(bytes, MAGIC, 8) != 0)
		return is_no_manifest(path, fault);
	manifest->form_number = decode_32(bytes + 8);
	/* Then what follows may have another format. */
	manifest->is_refused = manifest->form_number < STORE_FORM_FIRST ||
			       manifest->form_number > most_number;
	snprintf(what, sizeof what, "the data in %s", directory);
	if (manifest->is_refused && manifest->form_number > most_number)
		return store_form_newer(what, fault);
	if (manifest->is_refused)
		return manifest_accept(manifest, directory, NULL, &ignored, fault);
	if (size < HEAD + TAIL)
		return is_no_manifest(path, fault);
	n = decode_32(bytes + 12);
	form_size = decode_32(bytes + 48);
	files_size = n * INFO_SIZE;
	if (size != HEAD + files_size + form_size + TAIL ||
	    checksum(0, bytes, size - TAIL) != decode_32(bytes + size - TAIL))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s is damaged (checksum mismatch); restore a backup", path);
	memcpy(manifest->installation.bytes, bytes + 16, INSTALLATION_SIZE);
	manifest->number = decode_64(bytes + 32);
	manifest->next_id = decode_64(bytes + 40);
	manifest->n = n;
	manifest->files = memory_check(malloc((n + 1) * sizeof *manifest->files));
	for (size_t i = 0; i < n; i++) {
		const char *info = bytes + HEAD + i * INFO_SIZE;

		manifest->files[i] = (struct stack_info){
			.id = decode_64(info),
			.entries = decode_64(info + 8),
			.removals = decode_64(info + 16),
			.bytes = decode_64(info + 24),
			.superseded = decode_64(info + 32),
			.gdbm_size = decode_64(info + 40),
			.index_size = decode_64(info + 48),
			.index_checksum = decode_32(info + 56),
		};
	}
	manifest_set_form(manifest, manifest->form_number,
			  (struct slice){ bytes + HEAD + files_size, form_size });
	return true;
}

bool manifest_read(const struct file_system *files, const char *directory, unsigned most_number,
		   struct manifest *manifest, bool *is_there, struct fault *fault)
{
	char path[PATH_MAX], *bytes;
	size_t size;
	bool is_read;

	*manifest = (struct manifest){ 0 };
	*is_there = false;
	snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
	if (!file_read_whole(files, path, SIZE_MOST, &bytes, &size)) {
		if (errno == ENOENT)
			return true;
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
	}
	*is_there = true;
	is_read = manifest_parse(directory, path, bytes, size, most_number, manifest, fault);
	free(bytes);
	return is_read;
}

bool manifest_write(const struct file_system *files, const char *directory,
		    const struct manifest *manifest, bool *is_replaced, bool *is_broken,
		    struct fault *fault)
{
	const size_t files_size = manifest->n * INFO_SIZE;
	const size_t size = HEAD + files_size + manifest->form_size + TAIL;
	char path[PATH_MAX], *bytes = memory_check(calloc(1, size));
	bool is_written;
	int error;

	memcpy(bytes, MAGIC, 8);
	encode_32(bytes + 8, manifest->form_number);
	encode_32(bytes + 12, (uint32_t)manifest->n);
	memcpy(bytes + 16, manifest->installation.bytes, INSTALLATION_SIZE);
	encode_64(bytes + 32, manifest->number);
	encode_64(bytes + 40, manifest->next_id);
	encode_32(bytes + 48, (uint32_t)manifest->form_size);
	for (size_t i = 0; i < manifest->n; i++) {
		const struct stack_info *info = &manifest->files[i];
		char *to = bytes + HEAD + i * INFO_SIZE;

		encode_64(to, info->id);
		encode_64(to + 8, info->entries);
		encode_64(to + 16, info->removals);
		encode_64(to + 24, info->bytes);
		encode_64(to + 32, info->superseded);
		encode_64(to + 40, info->gdbm_size);
		encode_64(to + 48, info->index_size);
		encode_32(to + 56, info->index_checksum);
		encode_32(to + 60, 0);
	}
	if (manifest->form_size > 0)
		memcpy(bytes + HEAD + files_size, manifest->form, manifest->form_size);
	encode_32(bytes + size - TAIL, checksum(0, bytes, size - TAIL));
	snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
	is_written = file_replace(files, directory, path, bytes, size, is_replaced, is_broken);
	error = errno;
	free(bytes);
	return is_written || fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot write %s", path);
}

void manifest_set_form(struct manifest *manifest, unsigned number, struct slice form)
{
	char *copy = form.size == 0 ? NULL : memory_check(malloc(form.size));

	if (copy != NULL)
		memcpy(copy, form.data, form.size);
	free(manifest->form);
	manifest->form = copy;
	manifest->form_number = number;
	manifest->form_size = form.size;
}

void manifest_free(struct manifest *manifest)
{
	free(manifest->files);
	free(manifest->form);
	manifest->files = NULL;
	manifest->n = 0;
	manifest->form = NULL;
	manifest->form_size = 0;
}

struct manifest manifest_merged(const struct manifest *manifest, size_t first, size_t n,
				const struct stack_info *info)
{
	struct manifest merged = *manifest;

	assert(first + n <= manifest->n);
	merged.files = memory_check(malloc((manifest->n + 1) * sizeof *merged.files));
	merged.n = 0;
	merged.form = NULL;
	manifest_set_form(&merged, manifest->form_number,
			  (struct slice){ manifest->form, manifest->form_size });
	for (size_t i = 0; i < first; i++)
		merged.files[merged.n++] = manifest->files[i];
	if (info != NULL)
		merged.files[merged.n++] = *info;
	for (size_t i = first + n; i < manifest->n; i++)
		merged.files[merged.n++] = manifest->files[i];
	return merged;
}
