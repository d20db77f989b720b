import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { serve } from "../../fixtures/start-http.ts";
import type { Running } from "../../fixtures/start-http.ts";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
import { describeCause } from "./call-failures.ts";
import { createServerFetch } from "./server-fetch.ts";

/** Makes a certificate, where there is one. */
const OPENSSL = "openssl";

describe("createServerFetch", () => {
  const seen: Record<string, unknown>[] = [];
  let server: Running;
  let other: Running;
  let drops = 0;
  beforeAll(async () => {
    server = await serve((request, response) => {
      seen.push(request.headers);
      if (drops > 0) {
        drops -= 1;
        return void request.socket.destroy();
      }
      if (request.url === "/flood") {
        response.writeHead(200, { "content-type": "application/json" });
        const chunk = Buffer.alloc(1024 * 1024, "x");
        const write = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", write);
        };
        return write();
      }
      return void response.end("{}");
    });
    other = await serve((request, response) => {
      seen.push(request.headers);
      response.end("{}");
    });
  });
  afterAll(async () => {
    await server.close();
    await other.close();
  });
  const address = ({ port }: Running): string => `http://127.0.0.1:${port}`;

  it("gives the configured headers to the server's own origin only", async () => {
    const fetch = createServerFetch({
      url: `${address(server)}/mcp`,
      headers: { "x-key": "k", accept: "ours" },
    });
    await fetch(`${address(server)}/a`, { headers: { accept: "theirs" } });
    expect(seen.at(-1)).toMatchObject({ "x-key": "k", accept: "theirs" });
    await fetch(`${address(other)}/a`);
    expect(seen.at(-1)).not.toHaveProperty("x-key");
  });

  it("sends credentials of the address as a header", async () => {
    const { port } = server;
    await createServerFetch({ url: address(server) })(`http://ada:p%40ss@127.0.0.1:${port}/`);
    expect(seen.at(-1)).toMatchObject({
      authorization: `Basic ${Buffer.from("ada:p@ss").toString("base64")}`,
    });
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "http://10.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://localhost/",
    "file:///etc/passwd",
  ])("goes from a public server to no inner address such as %s", async (target) => {
    const fetch = createServerFetch({ url: "https://93.184.215.14/mcp" });
    await expect(fetch(target)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  });

  it("stops reading an answer without end", async () => {
    const fetch = createServerFetch({ url: address(server) }, 5_000_000);
    const response = await fetch(`${address(server)}/flood`);
    await expect(response.text()).rejects.toThrow("more than 5000000 bytes");
  });

  it.runIf(spawnSync(OPENSSL, ["version"]).status === 0)(
    "says which variable makes an authority of one's own known",
    async () => {
      const folder = await temporaryFolder();
      const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const request = `req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout ${key} -out ${cert}`;
      spawnSync(OPENSSL, request.split(" "));
      const secure = createServer({ key: await readFile(key), cert: await readFile(cert) });
      await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void secure.close());
      const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
      const failure: unknown = await createServerFetch({ url })(url).catch((error: unknown) => error);
      expect(describeCause(failure)).toContain(
        "set NODE_USE_SYSTEM_CA=1, or NODE_EXTRA_CA_CERTS to its file",
      );
    },
  );

  it("asks once more when a connection went stale, but never sends anything twice", async () => {
    const fetch = createServerFetch({ url: address(server) });
    drops = 1;
    expect((await fetch(address(server))).status).toBe(200);
    drops = 1;
    const before = seen.length;
    await expect(fetch(address(server), { method: "POST", body: "{}" })).rejects.toThrow("fetch failed");
    expect(seen).toHaveLength(before + 1);
  });
});
