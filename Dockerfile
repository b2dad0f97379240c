FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -ldflags='-s -w' -o /prof . && go run ./internal/notices/make -licences /LICENSES.txt /prof

FROM debian:bookworm-slim
RUN useradd --create-home --uid 1000 prof && install -d -o prof -g prof -m 700 /home/prof/.prof
COPY --from=build /prof /usr/local/bin/prof
COPY --from=build /src/LICENSE /LICENSES.txt /usr/share/doc/prof/
USER prof
WORKDIR /home/prof
ENV PROF_HOME=/home/prof/.prof
VOLUME /home/prof/.prof
EXPOSE 7321
ENTRYPOINT ["prof"]
