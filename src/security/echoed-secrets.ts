/** Headers whose value is somebody's secret. */
const secretHeaders = ['authorization', 'x-a2a-notification-token']
/** Shorter ones are no secrets, and are part of too many words. */
const secretMin = 4
const inPlace = '[secret]'

/** An answer without the secrets of its request: receivers that fail like to tell what they were sent, and answers are kept. */
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

/** The longest first: one may be a part of another. */
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

/** How much of a secret stands at the end of a text that was cut within it. */
function cutLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= secretMin; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}
