/** Maps items in order, a limited number at once. */
export async function mapInParallel<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  map: (item: Item) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = Array.from({ length: items.length });
  const pending = items.entries();
  const work = async () => {
    for (const [index, item] of pending) {
      signal?.throwIfAborted();
      results[index] = await map(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return results;
}
