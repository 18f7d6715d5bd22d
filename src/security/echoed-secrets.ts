/** Headers whose values are secrets. */
const secretHeaders = ['authorization', 'x-a2a-notification-token']
/** Shorter values are not secrets, and occur in ordinary words. */
const secretMin = 4
const inPlace = '[secret]'

/** Removes the secrets of a request from its answer: failing receivers often echo the request, and answers are stored. */
export function withoutEcho(answer: string, sent: Readonly<Record<string, string>>): string {
  if (answer === '') return answer
  let text = answer
  for (const secret of secretsIn(sent)) {
    text = text.replaceAll(secret, inPlace)
    const cut = cutLength(text, secret)
    if (cut > 0) text = text.slice(0, -cut) + inPlace
  }
  return text
}

/** Longest first, because one may be a part of another. */
function secretsIn(sent: Readonly<Record<string, string>>): string[] {
  const secrets = new Set<string>()
  for (const [name, value] of Object.entries(sent)) {
    if (!secretHeaders.includes(name.toLowerCase())) continue
    const credentials = name.toLowerCase() === 'authorization' ? value.replace(/^\S+\s+/, '') : value
    const decoded = /^basic\s/i.test(value) ? Buffer.from(credentials, 'base64').toString() : ''
    for (const secret of [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)]) {
      for (const form of [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]) {
        if (form.length >= secretMin) secrets.add(form)
      }
    }
  }
  return [...secrets].sort((a, b) => b.length - a.length)
}

/** The number of characters of a secret at the end of a text that was cut within it. */
function cutLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= secretMin; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}
