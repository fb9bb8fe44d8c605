// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ramdisk.c - /dev/ramdisk, 64 MB of memory: the booted kernel has no other disk to swap to.
 *
 * RAMDISK_LIMITS: blk_alloc_disk() takes the queue's limits (6.9).
 */
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define RAMDISK_BYTES (64ul << 20)

static char *ramdisk_memory;
static struct gendisk *ramdisk;

static void ramdisk_submit(struct bio *bio)
{
	sector_t at = bio->bi_iter.bi_sector;
	struct bvec_iter i;
	struct bio_vec v;

	bio_for_each_segment(v, bio, i) {
		char *p = ramdisk_memory + (at << SECTOR_SHIFT);

		if ((at << SECTOR_SHIFT) + v.bv_len > RAMDISK_BYTES) {
			bio_io_error(bio);
			return;
		}
		if (op_is_write(bio_op(bio)))
			memcpy_from_bvec(p, &v);
		else
			memcpy_to_bvec(&v, p);
		at += v.bv_len >> SECTOR_SHIFT;
	}
	bio_endio(bio);
}

static const struct block_device_operations ramdisk_operations = {
	.owner = THIS_MODULE,
	.submit_bio = ramdisk_submit,
};

static int __init ramdisk_init(void)
{
	int err = -ENOMEM;

	ramdisk_memory = vzalloc(RAMDISK_BYTES);
	if (!ramdisk_memory)
		return err;
#ifdef RAMDISK_LIMITS
	ramdisk = blk_alloc_disk(NULL, NUMA_NO_NODE);
#else
	ramdisk = blk_alloc_disk(NUMA_NO_NODE);
#endif
	if (IS_ERR_OR_NULL(ramdisk))
		goto no_disk;
	strcpy(ramdisk->disk_name, "ramdisk");
	ramdisk->fops = &ramdisk_operations;
	set_capacity(ramdisk, RAMDISK_BYTES >> SECTOR_SHIFT);
	err = add_disk(ramdisk);
	if (!err)
		return 0;
	put_disk(ramdisk);
no_disk:
	vfree(ramdisk_memory);
	return err;
}

static void __exit ramdisk_exit(void)
{
	del_gendisk(ramdisk);
	put_disk(ramdisk);
	vfree(ramdisk_memory);
}

module_init(ramdisk_init);
module_exit(ramdisk_exit);
MODULE_DESCRIPTION("memory to swap to");
MODULE_LICENSE("GPL");
