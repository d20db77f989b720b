/** Settles as `work` does, or rejects once the time is over; `late` gets what came after that. */
export async function withDeadline<Value>(
  work: Promise<Value>,
  { ms, what, late }: { ms: number; what: string; late: (value: Value) => void },
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over = true;
      reject(new Error(`${what} took longer than ${ms} ms`));
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
