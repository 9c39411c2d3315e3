// The one place that names the version of the vendored bundle.
export * from "../../vendor/codemirror-6.43.15/codemirror.min.js";
