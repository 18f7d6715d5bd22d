/** A layer of Express' router, as far as it is looked at. */
interface Layer {
  readonly rawPath: string | string[]
  readonly route?: { readonly path: string | string[]; readonly methods: Record<string, boolean> }
  readonly handle: { readonly stack?: Layer[] }
}

/** Every route that a router answers, as `GET /v1/agents/:handle`, in the order in which it tries them. */
export function routesOf(router: unknown, at = ''): string[] {
  const { stack } = router as { stack: Layer[] }
  return stack.flatMap((layer) => {
    if (layer.handle.stack && !layer.route) {
      return [layer.rawPath].flat().flatMap((path) => routesOf(layer.handle, at + (path === '/' ? '' : path)))
    }
    const { route } = layer
    if (!route) return []
    // Those that answer every method refuse all but the others.
    const methods = Object.keys(route.methods).filter((method) => method !== '_all')
    return [route.path]
      .flat()
      .flatMap((path) => methods.map((method) => `${method.toUpperCase()} ${at}${path === '/' && at ? '' : path}`))
  })
}
