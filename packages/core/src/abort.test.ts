import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abandonOnAbort } from "./promises.ts";

describe("abandonOnAbort", () => {
  it("resolves and rejects like the work, and leaves no listener", async () => {
    const { signal } = new AbortController();
    await expect(abandonOnAbort(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(abandonOnAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    await expect(abandonOnAbort(Promise.resolve(2), undefined)).resolves.toBe(2);
  });

  it("rejects with the signal's reason as soon as it aborts", async () => {
    const controller = new AbortController();
    const waiting = abandonOnAbort(new Promise(() => {}), controller.signal);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
  });

  it("rejects at once for a signal that has aborted, and leaves no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const work = Promise.reject(new Error("dropped"));
    await expect(abandonOnAbort(work, AbortSignal.abort("early"))).rejects.toBe("early");
    await new Promise(setImmediate);
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
    await expect(abandonOnAbort(Promise.resolve(1), AbortSignal.abort("early"))).rejects.toBe("early");
  });
});
