type Members = Record<string, unknown>;

const changes: ((process: Members) => Members)[] = [];

/** Changes the global `process` on first access, since loading it is slow. */
export function changeProcess(change: (process: Members) => Members): void {
  changes.push(change);
  const load = Object.getOwnPropertyDescriptor(globalThis, "process")?.get?.bind(globalThis);
  if (changes.length > 1 || load === undefined) return;
  Object.defineProperty(globalThis, "process", {
    configurable: true,
    enumerable: true,
    get() {
      const value = changes.reduce((process, one) => one(process), load() as Members);
      Object.defineProperty(globalThis, "process", { value, writable: true, configurable: true });
      return value;
    },
  });
}
