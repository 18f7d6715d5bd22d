import { markPublic } from '../http/public-document.ts'
import { servedFile } from '../http/served-file.ts'
import { isUnchanged } from '../http/unchanged.ts'
import { openRoute } from './route.ts'

/** Made from the table of routes by `npm run openapi`. */
const file = new URL('../../../openapi.json', import.meta.url)

/** `/openapi.json`: the REST API as an OpenAPI document. */
export const openapiRoutes = [
  openRoute('GET /openapi.json', async ({ req, res }) => {
    const { body, tag: etag } = await servedFile(file)
    res.setHeader('ETag', etag)
    markPublic(res, 300)
    if (isUnchanged(req, { etag })) return void res.status(304).end()
    res.setHeader('Content-Type', 'application/json')
    res.end(body)
  }),
] as const
