/* Keys of entries: tables, hash, order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/entry_key.h"

#include <assert.h>

#include "base/encode.h"

static const struct {
	char letter;
	const char *name;
} tables[STORE_TABLE_COUNT] = {
	[STORE_RECORD] = { 'r', "RECORD" },
	[STORE_NAMED] = { 'g', "NAMED" },
	[STORE_COUNTER] = { 'n', "COUNTER" },
	[STORE_INDEX] = { 'x', "INDEX" },
};

char store_table_letter(enum store_table table)
{
	return tables[table].letter;
}

const char *store_table_name(enum store_table table)
{
	return tables[table].name;
}

bool store_table_find(char letter, enum store_table *table)
{
	for (int i = 0; i < STORE_TABLE_COUNT; i++) {
		if (tables[i].letter == letter) {
			*table = (enum store_table)i;
			return true;
		}
	}
	return false;
}

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t word, unsigned n)
{
	return word << n | word >> (64 - n);
}

static void sip_round(struct sip *sip)
{
	sip->v0 += sip->v1;
	sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
	sip->v0 = rotate(sip->v0, 32);
	sip->v2 += sip->v3;
	sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
	sip->v0 += sip->v3;
	sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
	sip->v2 += sip->v1;
	sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
	sip->v2 = rotate(sip->v2, 32);
}

static void sip_word(struct sip *sip, uint64_t word)
{
	sip->v3 ^= word;
	sip_round(sip);
	sip->v0 ^= word;
}

/* SipHash-1-3 (Aumasson and Bernstein): one round a word, three at the end. */
static uint64_t sip_hash(const struct installation *installation, const char *bytes, size_t size)
{
	uint64_t k0 = decode_64(installation->bytes), k1 = decode_64(installation->bytes + 8);
	struct sip sip = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
			   k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573 };
	uint64_t last = (uint64_t)size << 56;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8)
		sip_word(&sip, decode_64(bytes + i));
	for (; i < size; i++)
		last |= (uint64_t)(unsigned char)bytes[i] << 8 * (i % 8);
	sip_word(&sip, last);
	sip.v2 ^= 0xff;
	sip_round(&sip);
	sip_round(&sip);
	sip_round(&sip);
	return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

void entry_key_remake(uint64_t hash, enum store_table table, struct slice key,
		      struct entry_key *entry_key)
{
	assert(key.size <= STORE_KEY_MAX);
	entry_key->hash = hash;
	encode_64(entry_key->bytes, hash);
	entry_key->bytes[8] = store_table_letter(table);
	if (key.size > 0)
		memcpy(entry_key->bytes + 9, key.data, key.size);
	entry_key->size = 9 + key.size;
}

void entry_key_make(const struct installation *installation, enum store_table table,
		    struct slice key, struct entry_key *entry_key)
{
	entry_key_remake(0, table, key, entry_key);
	entry_key->hash = sip_hash(installation, entry_key->bytes + 8, 1 + key.size);
	encode_64(entry_key->bytes, entry_key->hash);
}

uint64_t entry_key_hash(struct slice entry_key)
{
	return decode_64(entry_key.data);
}

bool entry_key_parse(struct slice entry_key, enum store_table *table, struct slice *key)
{
	if (entry_key.size < 9 || entry_key.size > ENTRY_KEY_MAX)
		return false;
	*key = (struct slice){ entry_key.data + 9, entry_key.size - 9 };
	return store_table_find(entry_key.data[8], table);
}

uint32_t entry_key_order(struct slice entry_key)
{
	uint32_t value = 0x238f13afU * (uint32_t)entry_key.size;
	int shift = 0; /* i * 5 % 24 */

	/* Sign extension depends on the platform's char; GDBM hashes the same way. */
	for (size_t i = 0; i < entry_key.size; i++) {
		value += (uint32_t)entry_key.data[i] << shift;
		shift += shift < 19 ? 5 : 5 - 24;
	}
	return (1103515243U * value + 12345U) & 0x7fffffff;
}

int entry_key_compare(uint32_t order_a, struct slice a, uint32_t order_b, struct slice b)
{
	return order_a != order_b ? (order_a < order_b ? -1 : 1) : slice_compare(a, b);
}
