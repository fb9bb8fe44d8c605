// SPDX-License-Identifier: GPL-2.0-or-later
/* scan.c - lines of a log split into fields, with sums by code and by host. */
#include "work.h"

enum { TEXT = 1 << 20, HOSTS = 512, CODES = 600 };

char log_text[TEXT];
uint8_t field_end[256];
uint32_t by_code[CODES];
uint64_t bytes_by_host[HOSTS];
uint32_t line_at[32768];
uint32_t hour_count[24];
uint32_t log_len, n_lines;

NOINLINE static void write_log(void)
{
	uint64_t s = 59;

	while (log_len < TEXT - 200) {
		uint64_t r = random_next(&s);

		log_len += (uint32_t)sprintf(log_text + log_len, "host%03u %02u:%02u:%02u %u %u \"GET /page/%llx\"\n",
			(unsigned)(r & 511), (unsigned)(r >> 9) % 24, (unsigned)(r >> 20) % 60, (unsigned)(r >> 30) % 60,
			r & 1 << 15 ? 200 : 404, (unsigned)(r >> 40) % 50000, (unsigned long long)(r >> 24));
	}
}

static uint32_t number(uint32_t *i)
{
	uint32_t v = 0;

	while (!field_end[(uint8_t)log_text[*i]])
		v = v * 10 + (uint32_t)(log_text[(*i)++] - '0');
	(*i)++;
	return v;
}

NOINLINE static void read_log(void)
{
	uint32_t i = 0;

	n_lines = 0;
	while (i < log_len) {
		uint32_t host, hour, code;

		line_at[n_lines++ & 32767] = i;
		i += 4;
		host = number(&i);
		hour = number(&i);
		number(&i);
		number(&i);
		code = number(&i);
		by_code[code]++;
		hour_count[hour]++;
		bytes_by_host[host] += number(&i);
		while (log_text[i++] != '\n')
			;
	}
}

NOINLINE static uint64_t sample_lines(uint64_t *s)
{
	uint64_t sum = 0;

	for (int k = 0; k < 20000; k++)
		sum += (uint8_t)log_text[line_at[random_next(s) % n_lines & 32767] + 9];
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t s = 61, sum = 0;
	long n = work_amount(argc, argv, 5000);

	field_end[' '] = field_end[':'] = field_end['\n'] = 1;
	write_log();
	for (long r = 0; r < n; r++) {
		read_log();
		sum += sample_lines(&s);
	}
	printf("%llu %u\n", (unsigned long long)sum, by_code[404]);
	return 0;
}
