/** What can be stored, sent and compared: everything that must survive a process is made of this. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A JSON Schema document, as plain data. */
export type JsonSchema = { [key: string]: Json }
