import { describe, expect, it } from "vitest";
import { networkEnvironment } from "./network-environment.ts";

describe("networkEnvironment", () => {
  it("takes what says how to reach the network, and no more", () => {
    const network = {
      HTTPS_PROXY: "http://proxy:1",
      no_proxy: "localhost",
      NODE_EXTRA_CA_CERTS: "/ca.pem",
      npm_config_registry: "https://npm.example",
    };
    const other = {
      AWS_SECRET_ACCESS_KEY: "x",
      NODE_OPTIONS: "--inspect",
      MY_HTTP_PROXY: "x",
      NPM_TOKEN: "x",
    };
    expect(networkEnvironment({ ...network, ...other })).toEqual(network);
  });
});
