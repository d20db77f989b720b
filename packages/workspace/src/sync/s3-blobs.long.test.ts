import http from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CemError } from "@cem/core";
import { parseSealingKeys, seal, unseal } from "@cem/store";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../store/test/free-port.ts";
import { Machines } from "../../test/sync/machines.ts";
import { S3_KEY, startS3 } from "../../test/sync/s3-server.ts";
import type { S3Server } from "../../test/sync/s3-server.ts";
import { sealBlobs } from "./blobs.ts";
import type { BlobStore } from "./blobs.ts";
import { createS3Blobs, parseS3Url } from "./s3-blobs.ts";
import type { S3Place } from "./s3-blobs.ts";

let server: S3Server;

beforeAll(async () => {
  server = await startS3();
});

afterAll(async () => {
  await server.stop();
});

const place = (url = server.url): S3Place => parseS3Url(url, {}) as S3Place;
const namesOf = async (blobs: { names(): AsyncIterable<string> }): Promise<string[]> => {
  const names: string[] = [];
  for await (const name of blobs.names()) names.push(name);
  return names.toSorted();
};

describe("createS3Blobs", () => {
  it("keeps, lists page by page and removes pieces of one folder", async () => {
    const blobs = createS3Blobs({ place: place(), credentials: S3_KEY }, "customers/ada");
    const other = createS3Blobs({ place: place(), credentials: S3_KEY }, "customers/ad");
    await other.write("x", Buffer.from("other"));
    expect(await blobs.read("x")).toBeUndefined();
    for (let at = 0; at < 1_005; at += 5)
      await Promise.all([0, 1, 2, 3, 4].map((add) => blobs.write(`piece-${at + add}`, Buffer.from([add]))));
    expect(await namesOf(blobs)).toHaveLength(1_005);
    expect(await blobs.read("piece-7")).toEqual(Buffer.from([2]));
    await blobs.remove("piece-7");
    await blobs.remove("piece-7");
    expect(await blobs.read("piece-7")).toBeUndefined();
    expect(await namesOf(other)).toEqual(["x"]);
  });

  it("says what is wrong with the bucket, the key and the server", async () => {
    const noBucket = createS3Blobs({ place: { ...place(), bucket: "missing" }, credentials: S3_KEY }, "own");
    await expect(noBucket.write("x", Buffer.from("x"))).rejects.toMatchObject({
      code: "FILES_UNAVAILABLE",
      message: expect.stringContaining("there is no bucket missing"),
    });
    await expect(noBucket.read("x")).rejects.toThrow("there is no bucket missing");
    const wrongKey = createS3Blobs(
      { place: place(), credentials: { accessKeyId: "nobody", secretAccessKey: "secret-that-is-wrong" } },
      "own",
    );
    const refused = wrongKey.write("x", Buffer.from("x"));
    await expect(refused).rejects.toThrow(/403 \(InvalidAccessKeyId\)/);
    await expect(refused).rejects.not.toThrow(/secret-that-is-wrong/);
    const away = createS3Blobs(
      {
        place: { ...place(), endpoint: new URL(`http://127.0.0.1:${await freePort()}`) },
        credentials: S3_KEY,
      },
      "own",
    );
    await expect(away.read("x")).rejects.toThrow("ECONNREFUSED");
  });

  /** Pieces of a server that answers as told. */
  async function answering(answer: http.RequestListener, timeoutMs?: number): Promise<BlobStore> {
    const flaky = http.createServer((request, response) => {
      request.resume();
      answer(request, response);
    });
    await new Promise<void>((resolve) => flaky.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      flaky.close();
      flaky.closeAllConnections();
    });
    const endpoint = new URL(`http://127.0.0.1:${(flaky.address() as AddressInfo).port}`);
    return createS3Blobs({ place: { ...place(), endpoint }, credentials: S3_KEY, timeoutMs }, "own");
  }
  const half = (response: http.ServerResponse): void =>
    void response.writeHead(200, { "content-length": 4 }).write("he");

  it("tries again where the server failed for a moment, also midway", async () => {
    let asked = 0;
    const blobs = await answering((request, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(503).end();
      else if (asked === 3) response.setHeader("etag", '"1"').end("here");
      else {
        half(response);
        setTimeout(() => request.socket.destroy(), 50);
      }
    });
    expect(await blobs.read("x")).toEqual(Buffer.from("here"));
    await expect(blobs.read("x")).rejects.toMatchObject({ code: "FILES_UNAVAILABLE" });
    expect(asked).toBe(6);
  });

  it("waits only so long for an answer that stops midway, whatever is collected meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const begun = Promise.withResolvers<void>();
    const blobs = await answering((_, response) => {
      half(response);
      begun.resolve();
    }, 400);
    const read = blobs.read("x").catch((error: unknown) => error);
    await begun.promise;
    const collecting = setInterval(collect, 50);
    onTestFinished(() => clearInterval(collecting));
    expect(await read).toMatchObject({
      code: "FILES_UNAVAILABLE",
      message: expect.stringContaining("it did not answer in full within 0.4 s"),
    });
  });

  it("says how long what it sends is", async () => {
    const blobs = await answering((request, response) =>
      response.writeHead(request.headers["content-length"] === "3" ? 200 : 411, { etag: '"1"' }).end(),
    );
    await expect(blobs.write("x", Buffer.from("abc"))).resolves.toBeUndefined();
  });

  it("takes no page of something else for an answer", async () => {
    const blobs = await answering((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Please sign in.</html>"),
    );
    const uses = [blobs.write("x", Buffer.from("abc")), blobs.read("x"), namesOf(blobs)];
    for (const { reason } of (await Promise.allSettled(uses)) as PromiseRejectedResult[])
      expect(reason).toMatchObject({
        code: "FILES_UNAVAILABLE",
        message: expect.stringContaining("as no S3 server does"),
      });
  });

  it.each<[string, (blobs: BlobStore, signal: AbortSignal) => Promise<unknown>]>([
    ["read", (blobs, signal) => blobs.read("x", signal)],
    ["write", (blobs, signal) => blobs.write("x", Buffer.from("abc"), signal)],
    ["remove", (blobs, signal) => blobs.remove("x", signal)],
    ["names", (blobs, signal) => blobs.names(signal)[Symbol.asyncIterator]().next()],
  ])("ends a request under way with its signal: %s", async (_, ask) => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blobs = await answering((request) => {
      request.socket.once("close", () => closed.resolve());
      asked.resolve();
    });
    const ending = new AbortController();
    const answer = ask(blobs, ending.signal).catch((error: unknown) => error);
    await asked.promise;
    ending.abort(new CemError("FILES_UNAVAILABLE", "given up"));
    expect(await answer).toMatchObject({ message: "given up" });
    await closed.promise;
  });
});

describe("a workspace whose files are in S3", () => {
  it("is the same on two machines, and sealed where there are keys", async () => {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const keys = parseSealingKeys(`first:${Buffer.alloc(32, 7).toString("base64")}`);
    const plain = createS3Blobs({ place: place(), credentials: S3_KEY }, "customers/sealed");
    const blobs = sealBlobs(plain, {
      seal: (context, bytes) => seal(keys, context, bytes),
      unseal: (context, sealed, place) => unseal(keys, context, sealed, place),
    });
    const [one, two] = [machines.machine("one", { blobs }), machines.machine("two", { blobs })];
    await one.sync.during(() => one.write("notes.txt", "a word that nobody else reads"));
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "notes.txt": "a word that nobody else reads" });
    for (const name of await namesOf(plain))
      expect(Buffer.from((await plain.read(name)) ?? []).includes("nobody else")).toBe(false);
    // Somebody who can write there puts one piece in another's place.
    const [first = "", second = ""] = await namesOf(plain);
    await plain.write(first, (await plain.read(second)) ?? Buffer.alloc(0));
    await expect(machines.machine("three", { blobs }).sync.fetch()).rejects.toMatchObject({
      code: "STORE_SEALED",
    });
  });

  it("is refused at another server with a bucket of that name, and in the store", async () => {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const other = await startS3();
    onTestFinished(() => other.stop());
    const at = (url: string): BlobStore =>
      createS3Blobs({ place: place(url), credentials: S3_KEY }, "customers/moved");
    const one = machines.machine("one", { blobs: at(server.url) });
    await one.sync.during(() => one.write("a.txt", "a"));
    await one.sync.close();
    for (const settings of [{ blobs: at(other.url) }, {}]) {
      const moved = machines.machine("one", settings);
      await expect(moved.sync.during(() => moved.write("b.txt", "b"))).rejects.toMatchObject({
        code: "FILES_UNAVAILABLE",
      });
    }
    expect(await namesOf(at(other.url))).toEqual([]);
    // Another name of the same server is none of another place.
    const byName = at(server.url.replace("127.0.0.1", "localhost"));
    const two = machines.machine("two", { blobs: byName });
    await two.sync.during(() => two.write("b.txt", "b"));
    await one.sync.fetch();
    expect(await one.files()).toEqual({ "a.txt": "a", "b.txt": "b" });
  });

  it("is not run on old files while the storage is away, and keeps what can't be put back", async () => {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const own = await startS3();
    let isStopped = false;
    onTestFinished(async () => {
      if (!isStopped) await own.stop();
    });
    const at = (url: string): ReturnType<typeof createS3Blobs> =>
      createS3Blobs({ place: place(url), credentials: S3_KEY }, "own");
    const one = machines.machine("one", { blobs: at(own.url) });
    const two = machines.machine("two", { blobs: at(own.url) });
    await one.sync.during(() => one.write("a.txt", "a"));
    const { remarks } = await one.sync.during(async () => {
      await one.write("b.txt", "b");
      await own.stop();
      isStopped = true;
    });
    expect(remarks).toEqual([
      expect.stringMatching(
        /^What the run wrote is kept on this machine only: .*\(FILES_UNAVAILABLE\).* before the next run here\.$/,
      ),
    ]);
    // Clients read remarks: the log has the address.
    expect(remarks.join()).not.toMatch(/ECONNREFUSED|127\.0\.0\.1|bucket/);
    let isRun = false;
    const run = two.sync.during(async () => void (isRun = true));
    await expect(run).rejects.toMatchObject({ code: "FILES_UNAVAILABLE" });
    expect(isRun).toBe(false);
    await expect(one.sync.during(async () => {})).rejects.toMatchObject({ code: "FILES_UNAVAILABLE" });
    expect(await one.files()).toEqual({ "a.txt": "a", "b.txt": "b" });
  });
});

describe("parseS3Url", () => {
  it("takes what is missing from the usual variables", () => {
    const environment = { AWS_REGION: "eu-central-1", AWS_ENDPOINT_URL_S3: "https://minio.example:9000" };
    expect(parseS3Url("s3://bucket", environment)).toMatchObject({
      bucket: "bucket",
      prefix: "",
      region: "eu-central-1",
      endpoint: new URL("https://minio.example:9000"),
    });
    expect(parseS3Url("s3://bucket/a/b/", {})).toMatchObject({
      prefix: "a/b",
      region: "us-east-1",
      endpoint: new URL("https://s3.us-east-1.amazonaws.com"),
    });
  });

  it.each([
    "s3://Bucket",
    "s3://b",
    "https://bucket/x",
    "s3://bucket/a/../b",
    "s3://bucket?endpoint=ftp://x",
    "s3://bucket?key=secret",
    "s3://user:secret@bucket",
  ])("refuses %s", (url) => {
    expect(typeof parseS3Url(url, {})).toBe("string");
  });
});
