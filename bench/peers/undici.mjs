import { makeBody, Poster, signedHeaders } from '../lib/work.mjs'

/** The ceiling: bare POSTs, nothing kept. `settings.signed` adds Standard Webhooks headers. */
export async function open({ targets, settings }) {
  const poster = new Poster()
  let recorded = 0

  return {
    async accept(index, text) {
      const id = `msg_${index}`
      const body = makeBody(index, text, id)
      const target = targets[index % targets.length]
      const headers = settings.signed
        ? signedHeaders(body, id, target.key)
        : { 'content-type': 'application/json', 'webhook-id': id }
      await poster.post(target, headers, body)
      recorded++
    },
    get recorded() {
      return recorded
    },
    close: () => poster.close(),
  }
}
