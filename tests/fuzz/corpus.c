/* Runs a fuzz target (tests/fuzz/fuzz_*.c) on each of the given files, so that every build still
 * reads the inputs that libFuzzer once found.
 *
 *     tests/fuzz/fuzz_json FILE...
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const char *data, size_t size);
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t most);

/* Targets with a mutator of their own refer to libFuzzer's, which is never called here. */
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t most)
{
	(void)data;
	(void)most;
	return size;
}

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* Reads the file into memory that ends where the input does, so that any access beyond it is
 * noticed. */
static void run(const char *name)
{
	FILE *file = fopen(name, "re");
	long size;
	char *data;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
		give_up(name);
	size = ftell(file);
	rewind(file);
	data = malloc(size > 0 ? (size_t)size : 1);
	if (size < 0 || data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size)
		give_up(name);
	fclose(file);
	(void)LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE...\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (LLVMFuzzerInitialize != NULL && LLVMFuzzerInitialize(&argc, &argv) != 0)
		return EXIT_FAILURE;
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	printf("%d inputs\n", argc - 1);
	return EXIT_SUCCESS;
}
