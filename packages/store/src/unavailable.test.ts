import { inspect } from "node:util";
import { expect, it } from "vitest";
import { storeUnavailable } from "./unavailable.ts";

it.each([
  ["redis://h:1", { message: "OOM command not allowed when used memory > 'maxmemory'." }, "full"],
  ["postgres://h/db", { code: "53100", message: "could not extend file: No space left on device" }, "full"],
  ["/folder/store.db", { message: "database or disk is full" }, "full"],
  ["/folder/store.db", { message: "file is not a database" }, "damaged"],
  [
    "postgres://h/db",
    { code: "28P01", message: 'password authentication failed for user "ada"' },
    "password",
  ],
  ["postgres://h/db", { message: 'database "nope" does not exist' }, "database"],
  ["redis://h:1", { message: "NOAUTH Authentication required." }, "password"],
  ["postgres://h/db", { message: "The server does not support SSL connections" }, "tls"],
  ["rediss://h:1", { code: "ETIMEDOUT", message: "connect ETIMEDOUT" }, "tls"],
  ["redis://h:1", { code: "ECONNRESET", message: "read ECONNRESET" }, "tls"],
  ["postgres://h/db", { message: 'role "nobody" does not exist' }, "password"],
  ["postgres://h/db", { message: "permission denied for schema public" }, "rights"],
  ["postgres://h/db", { message: 'too many connections for role "cem"' }, "busy"],
  ["postgres://h/db", { message: "sorry, too many clients already" }, "busy"],
  ["postgres://h/db", { message: "cannot execute CREATE TABLE in a read-only transaction" }, "readonly"],
  [
    "redis://h:1",
    { message: "READONLY You can't write against a read only replica. script: 4f" },
    "readonly",
  ],
  ["postgres://h/db", { message: "its tables are of a newer version (9, this one knows 3)" }, "newer"],
  ["redis://h:1", { code: "ETIMEDOUT", message: "connect ETIMEDOUT" }, "silent"],
  ["redis://h:1", { code: "ECONNREFUSED", message: "" }, "silent"],
  ["postgres://h/db", { message: "timeout exceeded when trying to connect" }, "silent"],
  ["redis://h:1", { message: "ERR something else" }, ""],
])("names the reason why %s can't be used: %j", (location, cause, problem) => {
  const { code, details } = storeUnavailable(location, cause);
  const reason = problem === "" ? {} : { problem };
  expect([code, details]).toEqual(["STORE_UNAVAILABLE", { location, ...reason }]);
});

it("leaves out the command that failed, which may have the password", () => {
  const cause = Object.assign(new Error("WRONGPASS"), { command: { name: "auth", args: ["secret"] } });
  expect(inspect(storeUnavailable("redis://h:1", cause), { depth: 9 })).not.toContain("secret");
});
