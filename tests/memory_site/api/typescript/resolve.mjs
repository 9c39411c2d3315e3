// Generated code leaves the endings of files out, as bundlers allow and Node does not.
export async function resolve(specifier, context, next) {
  for (const ending of ["", ".js", "/index.js"]) {
    try {
      return await next(specifier + ending, context);
    } catch (error) {
      if (ending === "/index.js" || !specifier.startsWith(".")) throw error;
    }
  }
}
