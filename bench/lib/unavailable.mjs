/** Says why a peer cannot be measured on this machine. It is named in the table, never left out. */
export class Unavailable extends Error {}
