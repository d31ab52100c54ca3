//go:build tools

// Fixes the version of LiveKit's server, and of all modules that it is built from, for
//
//	go build -o DIR/livekit-server github.com/livekit/livekit-server/cmd/server
//
// in this folder, which `sh nginx/quickstart --call` runs. For another version:
//
//	go get github.com/livekit/livekit-server@VERSION && go mod tidy
//
// SPDX-License-Identifier: GPL-3.0-or-later
package livekit

import _ "github.com/livekit/livekit-server/cmd/server"
