/** Proxies, certificate authorities and package registries. A server started by `npx` or `uvx` may need them. */
const NETWORK_VARIABLE =
  /^(?:(?:https?|all|no)_proxy|node_extra_ca_certs|node_use_system_ca|node_use_env_proxy|ssl_cert_(?:file|dir)|npm_config_(?:registry|cafile|proxy|https_proxy|noproxy)|uv_(?:default_index|index_url)|pip_(?:index_url|cert)|requests_ca_bundle|curl_ca_bundle)$/i;

/** The environment variables that say how to reach the network. */
export function networkEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const found = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && NETWORK_VARIABLE.test(entry[0]),
  );
  return Object.fromEntries(found);
}
