const volatile: readonly { name: string; pattern: RegExp }[] = [
  { name: 'signing-key', pattern: /whsec_[A-Za-z0-9+/]{43}=/ },
  { name: 'key', pattern: /rk_[A-Za-z0-9_-]{43}/ },
  { name: 'sign-in-code', pattern: /rs_[A-Za-z0-9_-]{43}/ },
  { name: 'operator-key', pattern: /rko_[A-Za-z0-9_-]{43}/ },
  { name: 'follower', pattern: /follower_[\w-]{32}/ },
  { name: 'mcp-subscription', pattern: /sub_[0-9a-f]{32}/ },
  { name: 'uuid', pattern: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/ },
  { name: 'ulid', pattern: /\b0[0-9A-HJKMNP-TV-Z]{25}\b/ },
  { name: 'jwt', pattern: /\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}/ },
  { name: 'detached-jws', pattern: /\beyJ[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]{86}/ },
  { name: 'jws-header', pattern: /(?<=")eyJ[A-Za-z0-9_-]+(?=\\?")/ },
  { name: 'jws-signature', pattern: /(?<=")[A-Za-z0-9_-]{86}(?=\\?")/ },
  { name: 'signature', pattern: /(?<=v1,)[A-Za-z0-9+/]{43}=/ },
  { name: 'hex-signature', pattern: /\b[0-9a-f]{64}\b/ },
  { name: 'hash', pattern: /(?<=["#])[A-Za-z0-9_-]{43}(?=\\?")/ },
  { name: 'vapid-key', pattern: /(?<="publicKey": ")[A-Za-z0-9_-]{87}/ },
  // The name of a subscription in the ids of the events of an MCP session's stream.
  { name: 'subscription', pattern: /(?<=\.)[0-9a-f]{12}(?=-[0-9a-z])/ },
  { name: 'version', pattern: /(?<=(?:"title": "Rouse"|"ready"),\s+"version": ")[^"]+/ },
  // A body that is too large, which nobody wants to read.
  { name: 'long-text', pattern: /x{1000,}/ },
  { name: 'port', pattern: /(?<=127\.0\.0\.1:)\d{4,5}/ },
]
const anyVolatile = new RegExp(
  volatile.map(({ name, pattern }) => `(?<${group(name)}>${pattern.source})`).join('|'),
  'g',
)
/** Numbers have no placeholder: how long something real has taken is 0 here. */
const durations = /(\b(?:durationMs|waitedSeconds|progress)\\?"?: ?)\d+/g

/**
 * A function that puts a stable name in the place of everything that differs from run to run: `<uuid-1>` is the first
 * UUID that it meets, and the same one wherever it stands.
 */
export function createPlaceholders(): (text: string) => string {
  const known = new Map<string, string>()
  const counts = new Map<string, number>()
  return (text) =>
    text
      .replace(durations, (_, name) => `${name}0`)
      .replace(anyVolatile, (value, ...rest) => {
        const groups = rest.at(-1) as Record<string, string | undefined>
        const { name } = volatile.find(({ name }) => groups[group(name)] !== undefined)!
        if (!known.has(value)) {
          counts.set(name, (counts.get(name) ?? 0) + 1)
          known.set(value, `<${name}-${counts.get(name)}>`)
        }
        return known.get(value)!
      })
}

function group(name: string): string {
  return name.replaceAll('-', '')
}
