import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

/** The class of s3rver 3.7.1, which brings no types. */
interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
  httpServer: Server;
}

/** An S3 server on this machine's loopback, without conditional writes. */
export interface S3Server {
  /** For `store.files`. */
  url: string;
  endpoint: string;
  stop(): Promise<void>;
}

/** The credentials that the server accepts. */
export const S3_KEY = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

export async function startS3(bucket = "cem-files"): Promise<S3Server> {
  const S3rverClass = createRequire(import.meta.url)("s3rver") as new (settings: object) => S3rver;
  const directory = mkdtempSync(path.join(os.tmpdir(), "s3-"));
  const server = new S3rverClass({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
    resetOnClose: false,
  });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    url: `s3://${bucket}/some/prefix?endpoint=${encodeURIComponent(endpoint)}`,
    stop: async () => {
      const closed = server.close();
      server.httpServer.closeAllConnections();
      await closed;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
