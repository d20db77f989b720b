import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

/** Pages by path; others are read from this folder. */
export type Pages = Readonly<Record<string, string | ((request: SentRequest) => Reply)>>;
export interface SentRequest {
  path: string;
  body: string;
}
export type Reply = string | { location: string };

/** A web site of forms, on the loopback interface. */
export interface FormSite {
  origin: string;
  /** The requests that it received. */
  requests: SentRequest[];
  close(): Promise<void>;
}

export async function startFormSite(pages: Pages = {}): Promise<FormSite> {
  const requests: SentRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { pathname } = new URL(request.url ?? "/", "http://site");
      const sent = { path: pathname, body };
      requests.push(sent);
      const page = pages[pathname];
      const reply = typeof page === "function" ? page(sent) : (page ?? fileOf(pathname));
      if (typeof reply === "object") return response.writeHead(302, reply).end();
      if (reply === undefined) return response.writeHead(pathname === "/sent" ? 204 : 404).end();
      return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function fileOf(pathname: string): string | undefined {
  if (!pathname.endsWith(".html")) return undefined;
  return readFileSync(path.join(import.meta.dirname, path.basename(pathname)), "utf8");
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks = await request.toArray();
  return Buffer.concat(chunks as Buffer[]).toString("utf8");
}
