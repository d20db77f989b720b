// Preloaded with `node --import`, as users do: the SDK, configured by the OTEL_* variables.
import { NodeSDK } from "@opentelemetry/sdk-node";

new NodeSDK().start();
