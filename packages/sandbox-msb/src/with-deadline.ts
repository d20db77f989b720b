import { CemError } from "@cem/core";

interface Deadline<Value> {
  ms: number;
  what: string;
  overdue: () => void;
  late: (value: Value) => void;
}

/**
 * Settles as `work` does, or rejects once the time is over: `overdue` is called then, and `late` with what still came.
 *
 * @throws CemError `GUEST_START_FAILED`.
 */
export async function withDeadline<Value>(
  work: Promise<Value>,
  { ms, what, overdue, late }: Deadline<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over = true;
      reject(new CemError("GUEST_START_FAILED", `${what} took longer than ${ms / 1000} s.`));
      overdue();
    }, ms);
  });
  void work.then(
    (value) => {
      if (over) late(value);
      return undefined;
    },
    () => {},
  );
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
