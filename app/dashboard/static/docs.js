"use strict";

SwaggerUIBundle({
  dom_id: "#swagger-ui",
  url: "/openapi.json",
  deepLinking: true,
  layout: "StandaloneLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl],
  // A validator would be asked over the internet.
  validatorUrl: null,
});
