import { type Cidr, type Ip, isIn, parseCidr, parseIp } from './ip-address.ts'

/** Reasons for which an address is refused. Logs and tests name them, so they are stable. */
export type RefusalReason =
  | '6to4'
  | 'benchmarking'
  | 'broadcast'
  | 'discard'
  | 'documentation'
  | 'isatap'
  | 'link-local'
  | 'loopback'
  | 'metadata'
  | 'multicast'
  | 'nat64'
  | 'private'
  | 'reserved'
  | 'scoped'
  | 'shared'
  | 'siit'
  | 'site-local'
  | 'teredo'
  | 'unparsable'
  | 'unspecified'
  | 'v4-compatible'

/** The reason why an address is not public unicast; undefined when it is. The caller checks embedded IPv4 addresses. */
export function refusalOf(ip: Ip): RefusalReason | undefined {
  const named = (ip.kind() === 'ipv4' ? v4Ranges : v6Ranges).find(([range]) => isIn(range, ip))?.[1]
  if (named || ip.kind() === 'ipv4') return named
  return isIn(globalUnicastV6, ip) ? undefined : 'reserved'
}

/**
 * Addresses at which clouds give credentials to any client inside. Some are in private ranges, Azure's is in a public one.
 */
export const metadataAddresses: ReadonlySet<string> = new Set(
  [
    '169.254.169.254', // AWS, Azure, Google, Oracle, DigitalOcean, …
    '169.254.170.2', // AWS ECS task credentials
    '169.254.170.23', // AWS EKS pod identity
    '169.254.0.23', // Tencent
    '169.254.42.42', // Scaleway
    '100.100.100.200', // Alibaba
    '168.63.129.16', // Azure WireServer
    '192.0.0.192', // Oracle Classic
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // AWS EKS pod identity
    'fd20:ce::254', // Google
    'fd00:42::42', // Scaleway
  ].map((address) => String(parseIp(address))),
)

// IANA special-purpose registries (RFC 6890 and its updates). The first match names the reason.
const v4Ranges = ranges([
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
])

const v6Ranges = ranges([
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'v4-compatible'],
  ['::ffff:0:0:0/96', 'siit'],
  ['64:ff9b:1::/48', 'nat64'],
  ['100::/64', 'discard'],
  ['2001::/32', 'teredo'],
  ['2001:db8::/32', 'documentation'],
  ['2001::/23', 'reserved'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
])

// Only this range is assigned as public unicast (IANA IPv6 address space), so ::/8, 5f00::/16 and the rest are refused.
const globalUnicastV6: Cidr = parseCidr('2000::/3')!

function ranges(table: readonly (readonly [string, RefusalReason])[]): (readonly [Cidr, RefusalReason])[] {
  return table.map(([cidr, reason]) => [parseCidr(cidr)!, reason])
}
