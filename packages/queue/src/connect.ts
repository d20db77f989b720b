import { Redis } from "ioredis";

const CONNECT_TIMEOUT_MS = 5_000;

/** A connection for questions that are asked until they are answered: what a worker tells must not be lost in a cut. */
export function connectPatiently(url: string): Redis {
  return connect(url, null);
}

/** A connection for questions that fail with the second cut. */
export function connectBriefly(url: string): Redis {
  return connect(url, 1);
}

function connect(url: string, maxRetriesPerRequest: number | null): Redis {
  const client = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest,
    // Nobody could catch the library's own attempt, which fails with a further cut: it would end the process.
    autoResubscribe: false,
  });
  // What can't be asked says why itself; without a listener the library prints it too.
  client.on("error", () => {});
  return client;
}
