/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <string.h>

void *cp_pool_take(struct cp_pool *pool)
{
	void *object;

	cp_lock(&pool->lock);
	object = pool->free;
	if (object)
		pool->free = *(void **)object;
	else
		object = cp_store_take(&pool->store, pool->object_size);
	cp_unlock(&pool->lock);
	if (object)
		memset(object, 0, pool->object_size);
	return object;
}

void cp_pool_give_list(struct cp_pool *pool, void *first, void *last)
{
	cp_lock(&pool->lock);
	*(void **)last = pool->free;
	pool->free = first;
	cp_unlock(&pool->lock);
}

void cp_pool_give(struct cp_pool *pool, void *object)
{
	if (object)
		cp_pool_give_list(pool, object, object);
}
