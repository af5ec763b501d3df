#!/bin/sh
# The RUSTC_WRAPPER of thorn-header: allows the unstable flag for the one crate that is expanded. If RUSTC_BOOTSTRAP were set for cargo, build
# scripts of dependencies would see it and run again, and cargo would compile the dependencies again.
case " $* " in *" -Zunpretty=expanded "*) export RUSTC_BOOTSTRAP=1 ;; esac
exec "$@"
