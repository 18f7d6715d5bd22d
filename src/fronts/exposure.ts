import { createAddressPolicy } from '../security/address-policy.ts'
import { isLoopbackHost } from '../security/url-guard.ts'

interface Exposure {
  readonly http: { readonly host: string; readonly publicUrl: string | undefined }
  readonly grpc: { readonly port: number | undefined; readonly publicTarget: string | undefined }
  readonly webhooks: { readonly allow: readonly string[] }
  /** Whoever names a proxy has put one in front. */
  readonly trustedProxies: readonly string[]
  readonly hasTls: boolean
  /** The address that it listens on. */
  readonly url: string
}

/** Returns warnings, each with its remedy: what can be read or changed on the network, and what agents can reach through the gateway. */
export function exposureWarnings({ http, grpc, webhooks, trustedProxies, hasTls, url }: Exposure): string[] {
  const isOpen = !isLoopbackHost(http.host)
  const { publicUrl } = http
  const isFaced = publicUrl?.startsWith('https:') === true
  const warnings: [boolean, string][] = [
    [
      isOpen && !hasTls && !isFaced,
      `Rouse listens beyond this machine in plain text (${url}): keys and messages can be read on the way. ` +
        'Set ROUSE_TLS_CERT and ROUSE_TLS_KEY, or put a proxy with TLS in front and set ROUSE_PUBLIC_URL to its https address.',
    ],
    [
      isOpen && !hasTls && isFaced && trustedProxies.length === 0,
      `Rouse listens beyond this machine in plain text (${url}), although its public URL is https: who reaches this port goes round TLS. ` +
        'Let only the proxy reach the port and name it in ROUSE_TRUSTED_PROXIES, set ROUSE_HOST=127.0.0.1 if the proxy runs on this machine, ' +
        'or set ROUSE_TLS_CERT and ROUSE_TLS_KEY.',
    ],
    [
      isOpen && !hasTls && isFaced && grpc.port !== undefined && grpc.publicTarget === undefined,
      'Agent cards advertise gRPC in plain text. Set ROUSE_GRPC_PUBLIC_TARGET to the address of a proxy that adds TLS, ' +
        'set ROUSE_TLS_CERT and ROUSE_TLS_KEY, or set ROUSE_GRPC_PORT=off.',
    ],
    [
      publicUrl !== undefined && isPlainBeyondLoopback(publicUrl),
      `Agent cards advertise ${publicUrl}: clients send their keys there in plain text. Set ROUSE_PUBLIC_URL to an https address.`,
    ],
    [
      publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname) && reachesLoopback(webhooks.allow),
      'Webhooks may reach services of this machine (ROUSE_WEBHOOK_ALLOW), and the public URL lets others register them. ' +
        'Take 127.0.0.0/8 and ::1/128 out of ROUSE_WEBHOOK_ALLOW, or set it to none.',
    ],
  ]
  return warnings.filter(([isSo]) => isSo).map(([, warning]) => warning)
}

function isPlainBeyondLoopback(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'http:' && !isLoopbackHost(hostname)
}

function reachesLoopback(allow: readonly string[]): boolean {
  const policy = createAddressPolicy(allow)
  return ['127.0.0.1', '::1'].some((address) => policy.check(address).allowed)
}
