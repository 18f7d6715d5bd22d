// The compiler of this repository has no API for JavaScript, which openapi-typescript writes its types with. That of ts-morph has.
export { ts as default } from 'ts-morph'
