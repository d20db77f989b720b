import { Redis } from "ioredis";

/** All that a server has, names and content, as one text. */
export async function dumpRedis(url: string): Promise<string> {
  const client = new Redis(url);
  try {
    const parts: string[] = [];
    for await (const names of client.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
      for (const name of names) parts.push(`${name} ${JSON.stringify(await contentOf(client, name))}`);
    return parts.toSorted().join("\n");
  } finally {
    client.disconnect();
  }
}

async function contentOf(client: Redis, name: string): Promise<unknown> {
  switch (await client.type(name)) {
    case "string":
      return client.get(name);
    case "hash":
      return client.hgetall(name);
    case "list":
      return client.lrange(name, 0, -1);
    case "set":
      return client.smembers(name);
    case "zset":
      return client.zrange(name, "0", "-1", "WITHSCORES");
    case "stream":
      return client.xrange(name, "-", "+");
    default:
      return undefined;
  }
}

/** Follows all commands that a server gets, with what they are given. @returns what it got so far, and stops */
export async function watchRedis(url: string): Promise<{ seen: () => string; stop: () => void }> {
  const client = new Redis(url);
  const monitor = await client.monitor();
  const commands: string[] = [];
  monitor.on("monitor", (_: unknown, args: string[]) => commands.push(args.join(" ")));
  return {
    seen: () => commands.join("\n"),
    stop() {
      monitor.disconnect();
      client.disconnect();
    },
  };
}
