import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isUnchanged } from '../http/unchanged.ts'
import { openRoute } from './route.ts'

/** Made from the table of routes by `npm run openapi`. */
const file = new URL('../../../openapi.json', import.meta.url)

/** `/openapi.json`: the REST API as an OpenAPI document. It is read for each call: a gateway that nobody asks keeps none of it. */
export const openapiRoutes = [
  openRoute('GET /openapi.json', async ({ req, res }) => {
    const document = await readFile(file)
    const etag = `"${createHash('sha256').update(document).digest('base64url')}"`
    res.setHeader('ETag', etag)
    res.setHeader('Cache-Control', 'public, max-age=300')
    if (isUnchanged(req, { etag })) return void res.status(304).end()
    res.setHeader('Content-Type', 'application/json')
    res.end(document)
  }),
] as const
