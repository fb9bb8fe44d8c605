// SPDX-License-Identifier: GPL-2.0-or-later
/* pipeline.c - two producers and a consumer around a ring that blocks. */
#include "work.h"

#include <pthread.h>

enum { RING = 4096, BATCH = 512 };

uint64_t ring[RING];
uint32_t ring_head, ring_tail;
uint64_t inputs[2][8192];
uint32_t weights[1024];
uint64_t results[4096];
uint64_t produced[2], consumed;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
long amount;
int ended;

NOINLINE static void put(const uint64_t *batch)
{
	pthread_mutex_lock(&lock);
	while (ring_head - ring_tail > RING - BATCH)
		pthread_cond_wait(&not_full, &lock);
	for (int i = 0; i < BATCH; i++)
		ring[ring_head++ % RING] = batch[i];
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

NOINLINE static int get(uint64_t *batch)
{
	int more;

	pthread_mutex_lock(&lock);
	while (ring_head - ring_tail < BATCH && ended < 2)
		pthread_cond_wait(&not_empty, &lock);
	more = ring_head - ring_tail >= BATCH;
	for (int i = 0; more && i < BATCH; i++)
		batch[i] = ring[ring_tail++ % RING];
	pthread_cond_broadcast(&not_full);
	pthread_mutex_unlock(&lock);
	return more;
}

static void *produce(void *arg)
{
	int me = (int)(intptr_t)arg;
	uint64_t batch[BATCH], s = 41 + (uint64_t)me;

	for (long r = 0; r < amount; r++) {
		for (int i = 0; i < BATCH; i++) {
			uint64_t x = random_next(&s);

			batch[i] = inputs[me][x & 8191] ^ x;
			produced[me]++;
		}
		put(batch);
	}
	pthread_mutex_lock(&lock);
	ended++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
	return NULL;
}

NOINLINE static void use(const uint64_t *batch)
{
	for (int i = 0; i < BATCH; i++) {
		uint64_t x = batch[i];

		for (int k = 0; k < 5; k++)
			results[x >> (k * 9) & 4095] += weights[x >> (k * 7) & 1023];
		consumed++;
	}
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	uint64_t batch[BATCH];

	amount = work_amount(argc, argv, 250000);
	for (int i = 0; i < 1024; i++)
		weights[i] = (uint32_t)i * 3;
	for (int i = 0; i < 8192; i++)
		inputs[0][i] = inputs[1][i] = (uint64_t)i * 0x9e3779b97f4a7c15ull;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, produce, (void *)(intptr_t)i))
			return 1;
	while (get(batch))
		use(batch);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%llu %llu\n", (unsigned long long)results[5], (unsigned long long)consumed);
	return 0;
}
