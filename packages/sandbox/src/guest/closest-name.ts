/** How many letters have to change to make one name of the other. */
function distance(one: string, other: string): number {
  let row: number[] = [];
  for (let column = 0; column <= other.length; column += 1) row[column] = column;
  for (let line = 1; line <= one.length; line += 1) {
    const next: number[] = [line];
    for (let column = 1; column <= other.length; column += 1) {
      const change = one[line - 1] === other[column - 1] ? 0 : 1;
      const replaced = (row[column - 1] as number) + change;
      const added = (next[column - 1] as number) + 1;
      const removed = (row[column] as number) + 1;
      let least = replaced < added ? replaced : added;
      if (removed < least) least = removed;
      next[column] = least;
    }
    row = next;
  }
  return row[other.length] as number;
}

const LONGEST_NAME = 100;

/** The name that was probably meant; `undefined` when none is near. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  // About half of the letters may differ.
  let bestDistance = (name.length >> 1) + 1;
  for (let index = 0; index < names.length; index += 1) {
    const candidate = names[index] as string;
    if (candidate.length > LONGEST_NAME) continue;
    const away = distance(name, candidate);
    if (away >= bestDistance) continue;
    best = candidate;
    bestDistance = away;
  }
  return best;
}
