/** Numbers by key in flat arrays, so that a file can hold them. */
export interface Groups<Key> {
  keys: Key[];
  /** The numbers of `keys[k]` are the `members` from `starts[k]` to `starts[k + 1]`. */
  starts: Uint32Array;
  members: Uint32Array;
}

/** Adds a number to a group, unless it was the last one added there. @returns whether it was added. */
export function addMember<Key>(groups: Map<Key, number[]>, key: Key, member: number): boolean {
  const members = groups.get(key);
  if (members?.at(-1) === member) return false;
  if (members === undefined) groups.set(key, [member]);
  else members.push(member);
  return true;
}

export function toGroups<Key>(groups: ReadonlyMap<Key, readonly number[]>): Groups<Key> {
  const lists = [...groups.values()];
  const starts = new Uint32Array(lists.length + 1);
  for (const [at, { length }] of lists.entries()) starts[at + 1] = (starts[at] ?? 0) + length;
  return { keys: [...groups.keys()], starts, members: Uint32Array.from(lists.flat()) };
}

export function createLookup<Key>({ keys, starts, members }: Groups<Key>): (key: Key) => Uint32Array {
  const places = new Map(keys.map((key, at) => [key, at]));
  return (key) => {
    const at = places.get(key);
    return at === undefined ? members.subarray(0, 0) : members.subarray(starts[at], starts[at + 1]);
  };
}
