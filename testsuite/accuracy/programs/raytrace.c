// SPDX-License-Identifier: GPL-2.0-or-later
/* raytrace.c - rays against spheres sorted into a grid, with shading and a frame buffer. */
/* hotvar-libs: -lm */
#include "work.h"

enum { SPHERES = 96, WIDE = 320, HIGH = 200, GRID = 8 };

struct sphere {
	float x, y, z, r2;
	uint32_t material;
};
struct sphere spheres[SPHERES];
float colours[16][3];
float frame[HIGH][WIDE][3];
uint8_t cells[GRID * GRID][24];
uint8_t cell_n[GRID * GRID];
uint32_t hits_by_material[16];
struct {
	uint64_t rays, tests, shadows;
} tally;
float light[3] = { 4, 8, -3 };

static float square_root(float v)
{
	return __builtin_sqrtf(v);
}

static int nearest(const float *o, const float *d, unsigned cell, float *t)
{
	int best = -1;

	*t = 1e9f;
	for (unsigned k = 0; k < cell_n[cell]; k++) {
		const struct sphere *s = &spheres[cells[cell][k]];
		float cx = s->x - o[0], cy = s->y - o[1], cz = s->z - o[2];
		float b = cx * d[0] + cy * d[1] + cz * d[2];
		float q = b * b - (cx * cx + cy * cy + cz * cz) + s->r2;

		tally.tests++;
		if (q < 0)
			continue;
		q = b - square_root(q);
		if (q > 0.001f && q < *t) {
			*t = q;
			best = cells[cell][k];
		}
	}
	return best;
}

NOINLINE static void pixel(int x, int y)
{
	float o[3] = { 0, 0, -4 }, d[3], t, u;
	unsigned cell = (unsigned)(y * GRID / HIGH * GRID + x * GRID / WIDE);
	float *out = frame[y][x];
	int hit;

	d[0] = ((float)x - WIDE / 2) / WIDE;
	d[1] = ((float)y - HIGH / 2) / WIDE;
	u = 1 / square_root(d[0] * d[0] + d[1] * d[1] + 1);
	d[0] *= u;
	d[1] *= u;
	d[2] = u;
	tally.rays++;
	hit = nearest(o, d, cell, &t);
	if (hit < 0) {
		out[2] += 0.1f;
		return;
	}
	hits_by_material[spheres[hit].material]++;
	for (int k = 0; k < 3; k++)
		o[k] += d[k] * t;
	for (int k = 0; k < 3; k++)
		d[k] = light[k] - o[k];
	u = 1 / square_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	for (int k = 0; k < 3; k++)
		d[k] *= u;
	if (nearest(o, d, cell, &t) >= 0) {
		tally.shadows++;
		u *= 0.3f;
	}
	for (int k = 0; k < 3; k++)
		out[k] += colours[spheres[hit].material][k] * u;
}

int main(int argc, char **argv)
{
	uint64_t s = 17;
	long n = work_amount(argc, argv, 500);

	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 3; k++)
			colours[i][k] = (float)(random_next(&s) & 255) / 255;
	for (int i = 0; i < SPHERES; i++) {
		uint64_t r = random_next(&s);
		unsigned cx = r & 7, cy = r >> 3 & 7;

		spheres[i] = (struct sphere){ ((float)cx - 3.5f) * 0.7f, ((float)cy - 3.5f) * 0.45f, (float)(r >> 8 & 3), 0.06f + (float)(r >> 16 & 15) / 100, r >> 24 & 15 };
		for (unsigned c = 0; c < GRID * GRID; c++) {
			int dx = (int)(c % GRID) - (int)cx, dy = (int)(c / GRID) - (int)cy;

			if (dx * dx + dy * dy <= 2 && cell_n[c] < 24)
				cells[c][cell_n[c]++] = (uint8_t)i;
		}
	}
	for (long r = 0; r < n; r++)
		for (int y = 0; y < HIGH; y++)
			for (int x = 0; x < WIDE; x++)
				pixel(x, y);
	printf("%llu %g\n", (unsigned long long)tally.shadows, frame[100][100][1]);
	return 0;
}
