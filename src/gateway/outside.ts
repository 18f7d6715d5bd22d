import type { Config } from '../config/config.ts'
import type { Cleanup } from '../lib/cleanup.ts'
import { readVersion } from '../lib/version.ts'
import type { Logger } from '../logger/logger.ts'
import { JwtVerifier } from '../security/jwt-verifier.ts'
import type { NameResolverOptions } from '../security/name-resolver.ts'
import { createAskName } from '../security/name-servers.ts'
import { OutboundFetch } from '../security/outbound-fetch.ts'
import { openTracing, type Tracing } from '../tracing/tracing.ts'
import type { World } from './world.ts'

/** Opens what sends requests to the outside. */
export function openOutbound({ webhooks }: Config, { names, log }: World, undo: Cleanup): OutboundFetch {
  const { allow, proxy } = webhooks
  return undo.use(new OutboundFetch({ allow, proxy, log, names: nameOptions(webhooks, names) }))
}

/** Opens what verifies the tokens of issuers. Returns undefined without issuers: then no tokens are accepted. */
export function openVerifier(
  { jwtIssuers, webhooks }: Config,
  { clock, log }: World,
  undo: Cleanup,
): JwtVerifier | undefined {
  if (jwtIssuers.length === 0) return undefined
  return undo.use(new JwtVerifier({ issuers: jwtIssuers, allow: webhooks.allow, clock, log }))
}

/** Opens what sends spans to a collector. Returns undefined without a collector, and where its libraries are missing: a gateway works without. */
export async function openSpans({ otlpEndpoint }: Config, log: Logger): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined
  const onLost = (spans: number, err: unknown): void => log.warn({ err, spans }, 'traces.lost')
  return openTracing({ endpoint: otlpEndpoint, version: readVersion(), onLost }).catch((err: unknown) => {
    log.warn({ err }, 'traces.off')
    return undefined
  })
}

function nameOptions({ nameServers }: Config['webhooks'], names: NameResolverOptions): NameResolverOptions {
  return nameServers ? { ask: createAskName(nameServers), ...names } : names
}
