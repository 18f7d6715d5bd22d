import { isWildcardHost } from '../security/url-guard.ts'

interface Listening {
  readonly http: { readonly host: string; readonly publicUrl: string | undefined }
}

/**
 * Throws when cards would advertise an address that no client can use: a gateway that listens at every address of its machine
 * cannot know by which one clients reach it, and a signed card is believed.
 */
export function requireUsableAddress({ http: { host, publicUrl } }: Listening): void {
  if (publicUrl !== undefined || !isWildcardHost(host)) return
  throw new Error(
    `With ROUSE_HOST=${host} Rouse listens at every address of this machine, so no agent card can say where clients reach it. ` +
      'Set ROUSE_PUBLIC_URL (--public-url) to the address that they use, e.g. https://rouse.example or http://localhost:4520.',
  )
}
