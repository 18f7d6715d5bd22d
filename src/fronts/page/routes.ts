import { aiCatalogPath } from '../../agent-card/ai-catalog.ts'
import { Problem } from '../../errors.ts'
import { servedFile } from '../http/served-file.ts'
import { type HttpExchange, openRoute } from '../rest/route.ts'
import { pageFile } from './files.ts'

/** Scripts and styles are files of the gateway, and nothing else is loaded or asked. No text ever becomes markup but the page's own templates. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lit-html rouse-worker',
].join('; ')

const headers = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  'Cache-Control': 'no-cache',
}

/** `/`: the page. It holds nothing of anybody: it asks the REST API with the key of its reader. */
export const pageRoutes = [
  openRoute('GET /', (http) => {
    http.res.setHeader('Link', `<${aiCatalogPath}>; rel="ai-catalog"`)
    return sendFile(http, 'index.html')
  }),
  openRoute('GET /page/:file', sendNamed),
  openRoute('GET /page/:folder/:file', sendNamed),
] as const

function sendNamed(http: HttpExchange): Promise<undefined> {
  return sendFile(http, http.req.path.slice('/page/'.length))
}

async function sendFile({ req, res }: HttpExchange, name: string): Promise<undefined> {
  const file = pageFile(name)
  if (!file) throw new Problem('not-found', { detail: 'The page has no such file. Open /.' })
  const { body, tag } = await servedFile(file.url)
  for (const [header, value] of Object.entries(headers)) res.setHeader(header, value)
  res.setHeader('ETag', tag)
  if (req.get('if-none-match') === tag) return void res.status(304).end()
  res.setHeader('Content-Type', file.type)
  res.setHeader('Content-Length', body.length)
  res.end(req.method === 'HEAD' ? undefined : body)
}
