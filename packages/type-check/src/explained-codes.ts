/**
 * The diagnostics of TypeScript that mean that a run would fail, by what they are about. All others (missing types, unused
 * names, possible null, mismatches among the program's own types) do not stop code.
 */
export const EXPLAINED_CODES = {
  import: [2305, 2459, 2460, 2614, 2724, 1192],
  name: [2304, 2552, 2580, 2582, 2583, 2584, 2662, 2663, 18004],
  member: [2339, 2551, 2550, 2568, 2570],
  uncallable: [2349, 2351, 2348, 6234],
  call: [2345, 2322, 2353, 2561, 2739, 2740, 2741, 2554, 2555, 2769, 2820, 2559, 2326, 2418],
  iteration: [2461, 2488, 2495],
  constant: [2588],
} as const satisfies Record<string, readonly number[]>;

const ALL = new Set<number>(Object.values(EXPLAINED_CODES).flat());

/** Whether a diagnostic may be a reason to stop the code. Looking closer at those that are none takes as long as the check. */
export function mayStop({ code }: { code: number }): boolean {
  return ALL.has(code);
}
