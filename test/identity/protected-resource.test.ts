import { discoverOAuthServerInfo, extractWWWAuthenticateParams } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { initialize } from '../fronts/mcp/http/wire.ts'
import { startGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { startTrusting } from './trusting.ts'

test('the client of MCP finds the issuer from the 401 of /mcp, and its token is accepted there', async () => {
  await using issuer = await startIssuer()
  const flow = {
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
  issuer.become({ discovery: flow })
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const url = `${gateway.url}/mcp`
  const begin = (headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(initialize()),
    })

  const refused = await begin()
  expect(refused.status).toBe(401)
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused)
  expect(resourceMetadataUrl?.href).toBe(`${gateway.url}/.well-known/oauth-protected-resource/mcp`)
  const metadata = {
    resource: url,
    resource_name: 'Rouse',
    authorization_servers: [issuer.url],
    bearer_methods_supported: ['header'],
  }
  // With the header, and by the rule for the path alone.
  for (const opts of [{ resourceMetadataUrl: resourceMetadataUrl! }, {}]) {
    const found = await discoverOAuthServerInfo(url, opts)
    expect(found.resourceMetadata).toEqual(metadata)
    expect(found.authorizationServerMetadata).toMatchObject({
      issuer: issuer.url,
      token_endpoint: `${issuer.url}/token`,
    })
  }
  expect((await begin({ authorization: `Bearer ${await issuer.sign({})}` })).status).toBe(200)
})

test('REST and A2A name the metadata of the gateway', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const metadata = `${gateway.url}/.well-known/oauth-protected-resource`
  for (const [method, path] of [
    ['GET', '/v1/inbox'],
    ['POST', '/agents/donna'],
    ['GET', '/agents/donna/tasks'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined
    const { status, headers } = await gateway.call(method, path, body, { key: null })
    expect([status, headers.get('www-authenticate')], path).toEqual([
      401,
      `Bearer realm="rouse", resource_metadata="${metadata}"`,
    ])
  }
  const { body } = await gateway.call('GET', new URL(metadata).pathname, undefined, { key: null })
  expect(body.resource).toBe(gateway.url)
})

test('without issuers there is no metadata, and nothing names it', async () => {
  await using gateway = await startGateway()
  for (const path of ['', '/mcp']) {
    const { status } = await gateway.call('GET', `/.well-known/oauth-protected-resource${path}`, undefined, {
      key: null,
    })
    expect(status).toBe(404)
  }
  const { status, headers } = await gateway.call('POST', '/mcp', initialize(), { key: null })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="rouse"'])
})
